rule benchmark:
    input:
        code=code_of("study.benchmark", *BENCHMARKED_MAPS),
        lock=LOCK,
    output:
        rows="results/benchmarks/speed/{name}.csv",
        records="results/benchmarks/speed/{name}.provenance.json",
    log:
        "logs/benchmarks/{name}.log",
    wildcard_constraints:
        name="|".join(BENCHMARKS),
    conda:
        "../envs/study.yaml"
    threads: ALL_CORES
    resources:
        mem_mb=8000,
        runtime=60,
        exclusive=1,
    params:
        threads=2,
    shell:
        "PYTHONPATH=src python -m rfstudy benchmark {wildcards.name} --threads {params.threads} --out {output.rows:q}"
        " > {log} 2>&1"


rule collect_benchmarks:
    input:
        rows=expand("results/benchmarks/speed/{name}.csv", name=BENCHMARKS),
        code=code_of("study.collect"),
    output:
        rows="results/benchmarks/speed.csv",
        records="results/benchmarks/speed.provenance.json",
    log:
        "logs/benchmarks/collect.log",
    conda:
        "../envs/study.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=20,
    shell:
        "PYTHONPATH=src python -m rfstudy collect --spec '[]' --out {output.rows:q} {input.rows:q} > {log} 2>&1"
