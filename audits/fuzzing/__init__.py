"""What the fuzzers are built of.

mutation   spoils bytes, texts and JSON trees
texts      studies, predicates and CSV files: valid ones, and ones from a grammar
trees      saved domains, workloads, guarantees, noise models and operators
archives   plan and release files: spoilt inside and zipped again, or spoilt as bytes
attack     feeds a parser and tells what it did
"""
