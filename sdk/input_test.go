package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk"
	"github.com/mcphost/mcphost/sdk/sdktest"
)

type trip struct {
	Where  string `json:"where" jsonschema:"to which city"`
	Nights *int   `json:"nights,omitempty"`
}

func accept(content any) map[string]any {
	return map[string]any{"action": "accept", "content": content}
}

func TestTwoRoundsOfQuestionsReadLikeCallsThatWait(t *testing.T) {
	p, _ := quiet()
	booked := 0
	sdk.AddTool(p, sdk.Tool{Name: "book"}, func(_ context.Context, c *sdk.Call, _ struct{}) (string, error) {
		number, err := sdk.Once(c, "reserve", func() (int, error) { booked++; return 40 + booked, nil })
		if err != nil {
			return "", err
		}
		to, err := sdk.Elicit[trip](c, "trip", "Where to?")
		if err != nil {
			return "", err
		}
		if !to.Accepted() {
			return "not booked: " + string(to.Action), nil
		}
		sure, err := sdk.Elicit[struct {
			Yes bool `json:"yes"`
		}](c, "sure", "Sure about "+to.Value.Where+"?")
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d %s %v", number, to.Value.Where, sure.Value.Yes), nil
	})
	c := sdktest.Start(t, p)

	first := c.Call("book", struct{}{})
	request := first.GetInputRequired().GetRequests()[0]
	if request.GetKey() != "trip" || request.GetMethod() != sdk.MethodElicit {
		t.Fatalf("first request = %v", request)
	}
	equalJSON(t, "the question", request.GetParamsJson(), `{"mode":"form","message":"Where to?","requestedSchema":{"type":"object","required":["where"],
		"properties":{"where":{"type":"string","description":"to which city"},"nights":{"type":"integer"}}}}`)

	second := first.Answer(map[string]any{"trip": accept(map[string]any{"where": "Rome"}), "stuffed": 1})
	if key := second.GetInputRequired().GetRequests()[0].GetKey(); key != "sure" {
		t.Fatalf("second key = %q", key)
	}
	if string(second.GetInputRequired().GetState()) == string(first.GetInputRequired().GetState()) {
		t.Error("the state did not change with the round")
	}
	third := second.Answer(map[string]any{"sure": accept(map[string]any{"yes": true, "added": "by the client"})})
	if third.Text() != "41 Rome true" {
		t.Errorf("result = %q", third.Text())
	}
	if booked != 1 {
		t.Errorf("the step before the questions ran %d times", booked)
	}
	if declined := first.Answer(map[string]any{"trip": map[string]any{"action": "decline"}}); declined.Text() != "not booked: decline" {
		t.Errorf("declined = %q", declined.Text())
	}
}

func TestAnAnswerThatDoesNotFitIsAskedForAgain(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "ask"}, func(_ context.Context, c *sdk.Call, _ struct{}) (string, error) {
		to, err := sdk.Elicit[trip](c, "trip", "Where to?")
		return to.Value.Where, err
	})
	c := sdktest.Start(t, p)
	for name, answers := range map[string]map[string]any{
		"none": {}, "other key": {"x": accept(map[string]any{"where": "a"})}, "number": {"trip": 12345}, "null": {"trip": nil},
		"wrong type": {"trip": accept(map[string]any{"where": 5})}, "missing": {"trip": accept(map[string]any{})},
		"no content": {"trip": accept(nil)}, "no action": {"trip": map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			again := c.Call("ask", struct{}{}).Answer(answers)
			if len(again.GetInputRequired().GetRequests()) != 1 {
				t.Fatalf("outcome = %v, want the question again", again.CallToolResponse)
			}
			if done := again.Answer(map[string]any{"trip": accept(map[string]any{"where": "Rome"})}); done.Text() != "Rome" {
				t.Errorf("result = %q, want Rome", done.Text())
			}
		})
	}
}

func TestQuestionsWhoseErrorsAreReturnedTogetherAreAskedTogether(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "ask"}, func(_ context.Context, c *sdk.Call, _ struct{}) (string, error) {
		form, err1 := sdk.ElicitForm(c, "form", "Name?", []byte(`{"type":"object","properties":{"n":{"type":"string"}}}`))
		model, err2 := c.Sample("model", sdk.SampleRequest{Messages: []sdk.SampleMessage{sdk.UserText("Hi")}, MaxTokens: 10})
		roots, err3 := c.Roots("roots")
		visit, err4 := sdk.ElicitURL(c, "url", "Pay", "https://example.com")
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			if !sdk.IsWaiting(err) {
				t.Errorf("error = %v, want a wait", err)
			}
			return "", err
		}
		return fmt.Sprint(form.Value["n"], model.Text(), roots[0].URI, visit), nil
	})
	first := sdktest.Start(t, p).Call("ask", struct{}{})
	var keys []string
	for _, r := range first.GetInputRequired().GetRequests() {
		keys = append(keys, r.GetKey()+" "+r.GetMethod())
	}
	if got := fmt.Sprint(keys); got != "[form elicitation/create model sampling/createMessage roots roots/list url elicitation/create]" {
		t.Fatalf("requests = %s", got)
	}
	second := first.Answer(map[string]any{
		"form": accept(map[string]any{"n": "Ann"}), "url": map[string]any{"action": "accept"},
		"roots": map[string]any{"roots": []any{map[string]any{"uri": "file:///a"}}},
	})
	if requests := second.GetInputRequired().GetRequests(); len(requests) != 1 || requests[0].GetKey() != "model" {
		t.Fatalf("second round = %v, want what is missing alone", second.CallToolResponse)
	}
	third := second.Answer(map[string]any{"model": map[string]any{"role": "assistant", "model": "m", "content": map[string]any{"type": "text", "text": "yo"}}})
	if third.Text() != "Annyofile:///aaccept" {
		t.Errorf("result = %q (%v)", third.Text(), third.CallToolResponse)
	}
}

func TestASwallowedQuestionIsStillAsked(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "ask"}, func(_ context.Context, c *sdk.Call, _ struct{}) (string, error) {
		answer, _ := sdk.Elicit[trip](c, "trip", "Where to?")
		return "went on to " + answer.Value.Where, nil
	})
	if got := sdktest.Start(t, p).Call("ask", struct{}{}); got.GetInputRequired() == nil {
		t.Errorf("outcome = %v, want the question", got.CallToolResponse)
	}
}

func TestTwoQuestionsOfOneKeyAreAnError(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "ask"}, func(_ context.Context, c *sdk.Call, _ struct{}) (string, error) {
		_, err1 := sdk.Elicit[trip](c, "trip", "Where to?")
		_, err2 := sdk.Elicit[trip](c, "trip", "Where from?")
		if sdk.IsWaiting(err2) {
			return "", err1
		}
		return "", err2
	})
	if got := sdktest.Start(t, p).Call("ask", struct{}{}); !got.IsError() || got.Text() != `two different questions have the key "trip"` {
		t.Errorf("outcome = %v", got.CallToolResponse)
	}
}

func TestInputByHandKeepsItsOwnState(t *testing.T) {
	p, _ := quiet()
	sdk.AddTool(p, sdk.Tool{Name: "ask"}, func(_ context.Context, c *sdk.Call, _ struct{}) (string, error) {
		if answer, ok := c.InputResponses()["k"]; ok {
			return string(c.State()) + string(answer), nil
		}
		return "", fmt.Errorf("wrapped: %w", &sdk.InputRequired{
			Requests: []sdk.InputRequest{{Key: "k", Method: sdk.MethodRoots}}, State: []byte{0, 1, 'x'}, SingleUse: true,
		})
	})
	first := sdktest.Start(t, p).Call("ask", struct{}{})
	if r := first.GetInputRequired(); !r.GetSingleUse() || r.GetSticky() || string(r.GetState()) != "\x00\x01x" || r.GetRequests()[0].GetParamsJson() != nil {
		t.Fatalf("input required = %v", r)
	}
	if done := first.Answer(map[string]any{"k": 1}); done.Text() != "\x00\x01x1" {
		t.Errorf("result = %q", done.Text())
	}
}

func TestResourcesAndPromptsAskToo(t *testing.T) {
	p, _ := quiet()
	p.AddResource(sdk.Resource{URI: "a:b", Name: "b"}, func(_ context.Context, c *sdk.Call, r sdk.Read) (*sdk.ReadResult, error) {
		to, err := sdk.Elicit[trip](c, "trip", "Where to?")
		if err != nil {
			return nil, err
		}
		return r.Text(to.Value.Where), nil
	})
	sdk.AddPrompt(p, sdk.Prompt{Name: "p"}, func(_ context.Context, c *sdk.Call, _ struct{}) (*sdk.PromptResult, error) {
		to, err := sdk.Elicit[trip](c, "trip", "Where to?")
		if err != nil {
			return nil, err
		}
		return sdk.UserPrompt(to.Value.Where), nil
	})
	c := sdktest.Start(t, p)
	answers := map[string][]byte{"trip": []byte(`{"action":"accept","content":{"where":"Rome"}}`)}

	read, err := c.ReadResource(t.Context(), &pluginv1.ReadResourceRequest{Uri: "a:b"})
	if err != nil {
		t.Fatal(err)
	}
	read, err = c.ReadResource(t.Context(), &pluginv1.ReadResourceRequest{Uri: "a:b", State: read.GetInputRequired().State, InputResponsesJson: answers})
	if err != nil || read.GetResult().GetContents()[0].GetText() != "Rome" {
		t.Errorf("read = %v, %v", read, err)
	}
	got, err := c.GetPrompt(t.Context(), &pluginv1.GetPromptRequest{Name: "p"})
	if err != nil {
		t.Fatal(err)
	}
	got, err = c.GetPrompt(t.Context(), &pluginv1.GetPromptRequest{Name: "p", State: got.GetInputRequired().State, InputResponsesJson: answers})
	if err != nil || got.GetResult().GetMessages()[0].GetContent().GetText() != "Rome" {
		t.Errorf("prompt = %v, %v", got, err)
	}
}
