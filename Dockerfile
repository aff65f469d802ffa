# azero for the CPU.
#
#   docker build --build-arg TORCH_INDEX=URL -t azero .
#   docker run --rm -it azero play connect_four
#   docker run --rm -p 127.0.0.1:8777:8777 azero serve --host 0.0.0.0      # http://127.0.0.1:8777/
#   mkdir -p runs
#   docker run --rm --user "$(id -u)" -v "$PWD/runs:/work/runs" -v azero-cache:/cache azero train connect_four_quick
#
# URL is what "Get started" on PyTorch's site shows after --index-url for Compute Platform: CPU. Without it pip takes
# its own build, which on x86 is the much larger one for NVIDIA GPUs.
FROM python:3.12-slim
ARG TORCH_INDEX=

WORKDIR /azero
COPY constraints.txt .
RUN pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$(grep '^torch==' constraints.txt)"
COPY . .
RUN pip install --no-cache-dir -c constraints.txt .

# Compiled kernels, for any user; a volume here keeps them.
ENV AZERO_CACHE_DIR=/cache
RUN mkdir -m 777 /cache
WORKDIR /work
ENTRYPOINT ["azero"]
