package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	// validBefore forgives a clock that was set back a little; validFor outlives any test.
	validBefore = time.Hour
	validFor    = 30 * 24 * time.Hour

	blockCertificate = "CERTIFICATE"
	blockPrivateKey  = "PRIVATE KEY"
	blockPublicKey   = "PUBLIC KEY"

	privateFileMode = 0o600
)

// authority is a certificate that may sign others, with its key.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// writeCredentials makes what an API server on loopback needs: ca.crt, apiserver.crt, apiserver.key,
// and the key pair for service account tokens, sa.key and sa.pub. The CA's key is not kept.
func writeCredentials(directory string) error {
	signer, err := writeAuthority(directory)
	if err != nil {
		return err
	}
	if err := writeServing(directory, signer); err != nil {
		return err
	}
	return writeTokenKeys(directory)
}

func writeAuthority(directory string) (authority, error) {
	key, err := newKey()
	if err != nil {
		return authority{}, err
	}
	ca := certificate("kerf-testbed-ca", 1)
	ca.IsCA, ca.BasicConstraintsValid = true, true
	ca.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		return authority{}, err
	}
	return authority{ca, key}, writePEM(directory, "ca.crt", blockCertificate, der)
}

func writeServing(directory string, signer authority) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	server := certificate("kube-apiserver", 2)
	server.KeyUsage = x509.KeyUsageDigitalSignature
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	server.DNSNames = []string{"localhost"}
	der, err := x509.CreateCertificate(
		rand.Reader, server, signer.certificate, key.Public(), signer.key)
	if err != nil {
		return err
	}
	if err := writePEM(directory, "apiserver.crt", blockCertificate, der); err != nil {
		return err
	}
	return writeKey(directory, "apiserver.key", key)
}

func writeTokenKeys(directory string) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(directory, "sa.pub", blockPublicKey, public); err != nil {
		return err
	}
	return writeKey(directory, "sa.key", key)
}

func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func certificate(name string, serial int64) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-validBefore),
		NotAfter:     now.Add(validFor),
	}
}

func writeKey(directory, file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(directory, file, blockPrivateKey, der)
}

func writePEM(directory, file, kind string, der []byte) error {
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	return os.WriteFile(filepath.Join(directory, file), text, privateFileMode)
}
