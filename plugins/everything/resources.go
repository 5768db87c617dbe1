package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcphost/mcphost/sdk"
)

func addResources(p *sdk.Plugin) {
	p.AddResource(sdk.Resource{URI: "test://static-text", Name: "static-text", Title: "Static text", Description: "Text that never changes.", MIMEType: "text/plain"},
		func(_ context.Context, _ *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) {
			result := r.Text("This is the content of the static text resource.")
			result.TTL, result.Public = time.Hour, true
			return result, nil
		})
	p.AddResource(sdk.Resource{URI: "test://static-binary", Name: "static-binary", Title: "Static binary", Description: "A picture that never changes.", MIMEType: "image/png"},
		func(_ context.Context, _ *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) { return r.Blob(picture), nil })
	p.AddResource(sdk.Resource{URI: watchedURI, Name: "watched-resource", Title: "Watched resource", Description: "Changes every three seconds.", MIMEType: "text/plain"},
		func(_ context.Context, _ *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) {
			return r.Text("It is " + time.Now().UTC().Format(time.RFC3339Nano)), nil
		})
	const byID = "test://template/{id}/data"
	p.AddTemplate(sdk.Template{URITemplate: byID, Name: "template", Title: "Template", Description: "Data by its id.", MIMEType: "application/json"},
		func(_ context.Context, _ *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) {
			text, err := json.Marshal(map[string]any{"id": r.Vars["id"], "templateTest": true, "data": "Data for ID: " + r.Vars["id"]})
			return r.Text(string(text)), err
		})
	p.CompleteTemplate(byID, "id", startsWith("123", "124", "456"))
}
