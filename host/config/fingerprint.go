package config

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ConfigDigest returns a digest of the plugin's own configuration as it is
// written, evaluated but not checked: two digests differ if the plugin would be
// configured differently. It needs no schema, and so no process.
func (p *Plugin) ConfigDigest() [sha256.Size]byte {
	h := sha256.New()
	// What the schema marks as paths depends on where the block stands.
	fmt.Fprintf(h, "base %q\n", p.absolute("."))
	if p.config != nil {
		digestBody(h, p.config.Body, p.eval)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func digestBody(h hash.Hash, body hcl.Body, eval *hcl.EvalContext) {
	args, blocks, diags := open(body)
	digestDiags(h, diags)
	for _, attr := range args {
		fmt.Fprintf(h, "argument %q = ", attr.Name)
		digestExpression(h, attr.Expr, eval)
	}
	for _, b := range blocks {
		digestBlock(h, b, eval)
	}
}

func digestBlock(h hash.Hash, b *hclsyntax.Block, eval *hcl.EvalContext) {
	fmt.Fprintf(h, "block %q %q {\n", b.Type, b.Labels)
	digestBody(h, b.Body, eval)
	fmt.Fprint(h, "}\n")
}

func digestExpression(h hash.Hash, expr hcl.Expression, eval *hcl.EvalContext) {
	v, diags := evaluate(expr, eval)
	digestDiags(h, diags)
	v, _ = v.UnmarkDeep()
	j, err := jsonValue(v)
	if err != nil {
		fmt.Fprintf(h, "error %q\n", err)
		return
	}
	text, err := json.Marshal(j)
	fmt.Fprintf(h, "%s %v\n", text, err)
}

// digestDiags makes what is wrong a part of the digest: mending it is a change.
func digestDiags(h hash.Hash, diags hcl.Diagnostics) {
	for _, d := range diags {
		fmt.Fprintf(h, "problem %q %q\n", d.Summary, d.Detail)
	}
}
