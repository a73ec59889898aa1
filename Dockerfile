# Kerf's image, for who builds with a container engine; without one: cargo xtask image.
#
#   docker build -t REGISTRY/kerf:0.1.0 .
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --locked --release --package kerf --bin kerf

# Certificates and the C library, and no shell. The user is the chart's.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /src/target/release/kerf /usr/local/bin/kerf
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/kerf"]
CMD ["controller"]
