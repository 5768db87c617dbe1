// Package egress is the way out for a sandboxed plugin that was granted hosts:
// an HTTP proxy that reaches those hosts and nothing else.
//
// It speaks plain HTTP for absolute URIs and CONNECT for TLS. It is the only
// listener the plugin's network namespace can reach, so what it refuses is
// unreachable.
package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Allow is a list of destinations. It is not changed once made.
type Allow struct {
	exact  map[string]bool // "host:port", host in lower case or an address in its usual form
	suffix map[string]bool // ".example.com:443" for "*.example.com:443"
}

// ParseAllow reads entries of the form host:port, *.domain:port or
// address:port and reports all that it cannot read.
func ParseAllow(hosts []string) (*Allow, error) {
	a := &Allow{exact: map[string]bool{}, suffix: map[string]bool{}}
	var problems []error
	for _, entry := range hosts {
		host, port, err := split(entry)
		if err != nil {
			problems = append(problems, fmt.Errorf("hosts %q: %w", entry, err))
			continue
		}
		if rest, wild := strings.CutPrefix(host, "*."); wild {
			a.suffix["."+rest+":"+port] = true
		} else {
			a.exact[net.JoinHostPort(host, port)] = true
		}
	}
	return a, errors.Join(problems...)
}

func split(entry string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(entry)
	if err != nil {
		return "", "", errors.New(`want "host:port", for example "api.example.com:443"`)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "", fmt.Errorf("port %q: want a number from 1 to 65535", port)
	}
	host = canonical(host)
	if bare := strings.TrimPrefix(host, "*."); bare == "" || strings.ContainsAny(bare, "*/@ ") {
		return "", "", errors.New(`a "*" stands only at the front, for all names below a domain`)
	}
	return host, port, nil
}

// canonical makes one spelling of names and addresses, so that none slips by
// as ::ffff:10.0.0.1 or EXAMPLE.COM.
func canonical(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().WithZone("").String()
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// permits reports whether the destination is named in the list.
func (a *Allow) permits(host, port string) bool {
	host = canonical(host)
	if a.exact[net.JoinHostPort(host, port)] {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	for i := 0; i < len(host); i++ {
		if host[i] == '.' && i > 0 && a.suffix[host[i:]+":"+port] {
			return true
		}
	}
	return false
}

// reaches reports whether ip, which host resolved to, may be dialled. A name
// must not lead into this machine or its neighbourhood, lest whoever holds the
// DNS of a granted name choose any private service; an address that the list
// names itself may be anywhere, and so may localhost.
func (a *Allow) reaches(host, port string, ip netip.Addr) bool {
	ip = ip.Unmap()
	if a.exact[net.JoinHostPort(ip.WithZone("").String(), port)] {
		return true
	}
	if canonical(host) == "localhost" {
		return ip.IsLoopback()
	}
	return public(ip)
}

// special are blocks that are not private in netip's sense and still no
// destination on the internet, or that carry an IPv4 address inside.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
	netip.MustParsePrefix("::/96"),
}

func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, block := range special {
		if block.Contains(ip) {
			return false
		}
	}
	return true
}
