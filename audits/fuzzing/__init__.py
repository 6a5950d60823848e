"""What the fuzzers are built of.

mutation   spoils bytes, texts and JSON trees
texts      studies and predicates: valid ones, and ones from a grammar
tables     CSV files, plain and gzipped
added_lines  CSV files and one more line: one count changes by one, or a file is refused
trees      saved domains, workloads, guarantees, noise models and operators
archives   plan and release files: spoilt inside and zipped again, or spoilt as bytes
attack     feeds a parser and tells what it did
"""
