package sdk

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// identity is the plugin's side of go-plugin's mutual TLS; nil where the host offered none. The curve is P-256, which
// every TLS library knows; go-plugin's own P-521 is refused by many.
type identity struct {
	own  tls.Certificate
	host *x509.CertPool
}

// newIdentity returns the identity that answers the host's certificate, which is PEM, or nil if there is none.
func newIdentity(hostPEM string) (*identity, error) {
	if hostPEM == "" {
		return nil, nil
	}
	host := x509.NewCertPool()
	if !host.AppendCertsFromPEM([]byte(hostPEM)) {
		return nil, errors.New("PLUGIN_CLIENT_CERT holds no certificate")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("making a serial number: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "localhost", Organization: []string{"mcphost"}}, DNSNames: []string{"localhost"},
		SerialNumber: serial, NotBefore: now.Add(-time.Minute), NotAfter: now.AddDate(30, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageKeyAgreement | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	return &identity{own: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, host: host}, nil
}

// tlsConfig is go-plugin's TLSProvider.
func (i *identity) tlsConfig() (*tls.Config, error) {
	if i == nil {
		return nil, nil
	}
	return &tls.Config{
		Certificates: []tls.Certificate{i.own}, ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs: i.host, RootCAs: i.host, MinVersion: tls.VersionTLS12, ServerName: "localhost",
	}, nil
}

// certificate is the sixth field of the handshake line.
func (i *identity) certificate() string {
	if i == nil {
		return ""
	}
	return base64.RawStdEncoding.EncodeToString(i.own.Certificate[0])
}
