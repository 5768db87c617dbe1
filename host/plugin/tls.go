package plugin

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// certLife is longer than any process should live; the keys die with it.
const certLife = 366 * 24 * time.Hour

// An identity is what the host shows to one process over mTLS. It speaks
// go-plugin's format with P-256, which every TLS library knows (BoringSSL and
// ring refuse the P-521 of AutoMTLS), and presents a leaf that is no CA (rustls
// refuses a CA as an end entity).
type identity struct {
	caPEM string // for PLUGIN_CLIENT_CERT
	leaf  tls.Certificate
}

func newIdentity(now time.Time) (*identity, error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	ca := certTemplate("mcphost ephemeral CA", now)
	ca.IsCA, ca.KeyUsage = true, x509.KeyUsageCertSign
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	leaf := certTemplate("localhost", now)
	leaf.DNSNames = []string{"localhost"}
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	return &identity{
		caPEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})),
		leaf:  tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
	}, nil
}

func certTemplate(name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		SerialNumber:          new(big.Int).SetBytes([]byte(rand.Text()[:16])),
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certLife),
		BasicConstraintsValid: true,
	}
}

// config accepts exactly the server that holds the key of cert, which the
// plugin announced on its own stdout.
func (i *identity) config(cert []byte) *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		ServerName:   "localhost",
		Certificates: []tls.Certificate{i.leaf},
		// A pin is stricter than a chain, and asks nothing of the names in the certificate.
		InsecureSkipVerify: true, //nolint:gosec // see VerifyConnection
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !bytes.Equal(s.PeerCertificates[0].Raw, cert) {
				return errors.New("plugin presented another certificate than it announced")
			}
			return nil
		},
	}
}
