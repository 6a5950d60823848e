# rowspace with PostgreSQL's driver, as a user of its own. The data, the study and the outputs are mounted at /work;
# the ledger is on PostgreSQL (compose.yaml) or a file below /work.
#
#   docker build -t rowspace .
#   docker run --rm -v "$PWD:/work" rowspace plan study.toml
#
# A command that ends: there is nothing to be asked whether it is well, hence no HEALTHCHECK. compose.yaml has one for
# the server.
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
RUN python -m venv /opt/rowspace \
    && /opt/rowspace/bin/pip install --no-cache-dir --constraint constraints.txt '.[postgres,xlsx]'

FROM python:3.12-slim
RUN useradd --create-home --uid 10001 rowspace
COPY --from=build /opt/rowspace /opt/rowspace
ENV PATH=/opt/rowspace/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /work
ENTRYPOINT ["rowspace"]
CMD ["--help"]
