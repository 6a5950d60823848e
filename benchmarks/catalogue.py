"""The programs of this folder and what each shows; `python -m benchmarks.NAME`."""

from __future__ import annotations

PROGRAMS = {
    "large_trees": "trees and wavelets of up to 2²⁰ cells: answers, noise and least squares in passes over the data",
    "sampler_throughput": "samples a second of every noise sampler, at two scales, beside OpenDP's and numpy's",
    "optimizers_gaussian": "Gaussian optima to 1024 cells: error, certificate, eigendecompositions they take",
    "optimizers_spectral": "spectral strategies to 2²⁰ cells: error, certificate, what integers cost, time in passes",
    "optimizers_laplace": "p-Identity to 4096 cells (`--large`: 16,384): error beside trees, steps beside dense ones",
    "laplace_figures": "plans under Laplace noise: permuted ranges, uneven marginals, 8,192 cells",
    "optimizers_marginals": "strategies of tables: error, certificate, time (`--large`: 10⁸ cells reconstructed)",
    "drawn": "plans in the integers that are asked, at large budgets and for a census union; bounds in L1 norms",
    "tied_attributes": "queries that tie attributes: error, certificate (`--large`: 1.33 million tables)",
    "optimizers_programs": "the paper's semidefinite programs and the search over rotations, beside its own figures",
    "counting": "counting tables: 10 million records beside plain GROUP BYs, 19,900 tables of 200 attributes",
    "dashboard": "200 SQL queries of a dashboard planned jointly, beside one by one",
    "worst_answer": "the worst answer of prefixes, ranges and products, and the least budget for several targets",
    "sums": "sums and means planned with counts; means beside OpenDP's (`--coverage`, `--large`: 10 million rows)",
    "periods": "plans over periods beside waiting and separate releases (`--large`, `--runs`, `--kills`)",
    "interactive": "streams of questions on one budget, beside what others would pay; draws the picture of the guide",
    "session_growth": "10,000 questions in one session: CPU time of each, and of opening its ledger anew",
    "beside_evidence": "planning against evidence: certified ratio, and time beside planning without",
    "few_queries": "SQL statements and conjunctions at their optimum (`--large`: 5,000 statements): error, CPU, memory",
    "unknown_values": "keys found in a table whose keys nobody knows, beside OpenDP's threshold; time of `rs.discover`",
    "coverage": "whether 95 % intervals cover 95 %, over 2,000 releases",
    "consistency": "what non-negative and whole answers do to the error of the sample study",
    "large_consistency": "non-negative and whole counts of 2²⁰ cells: CPU seconds, and how close they are",
    "believable_tables": "all 2-way tables of real data as estimated: error, coverage, CPU, beside AIM and MST",
    "missing_places": "what a place for missing values costs, in squared error",
    "goals": "the figures under Goals",
    "why_figure": "the README's figure: error of all ranges by method",
    "report_figure": "the README's picture of a report; needs Chromium",
}
