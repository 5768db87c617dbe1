package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphost/mcphost/sdk"
)

// States of the tools that keep theirs by hand. They hold no secret and need no seal of their own: the host seals every
// state and hands back only what it verified.
const (
	stateConfirm  = "confirm"
	stateMultiple = "multiple"
	stateRound1   = "round=1"
	stateRound2   = "round=2;name="
)

// addInputTools adds the tools that answer input_required by hand, with a state of their own.
func addInputTools(p *sdk.Plugin) {
	sdk.AddTool(p, sdk.Tool{Name: "test_input_required_result_request_state", Description: "Needs a confirmation, and its state back."}, confirm)
	sdk.AddTool(p, sdk.Tool{Name: "test_input_required_result_tampered_state", Description: "Needs a confirmation; a state that was changed is refused."}, confirm)
	sdk.AddTool(p, sdk.Tool{Name: "test_input_required_result_multiple_inputs", Description: "Needs an answer of the user, one of the model and the roots at once."}, multipleInputs)
	sdk.AddTool(p, sdk.Tool{Name: "test_input_required_result_multi_round", Description: "Needs two answers, one after the other."}, multiRound)
	sdk.AddTool(p, sdk.Tool{Name: "test_input_required_result_capabilities", Description: "Asks only for what the client says that it can give."}, byCapability)
}

// question is an elicitation of one field.
func question(key, message, field, kind string) sdk.InputRequest {
	return sdk.InputRequest{Key: key, Method: sdk.MethodElicit, Params: map[string]any{
		"mode": "form", "message": message,
		"requestedSchema": map[string]any{
			"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field},
		},
	}}
}

func sampling(key, prompt string) sdk.InputRequest {
	return sdk.InputRequest{Key: key, Method: sdk.MethodSample, Params: sdk.SampleRequest{Messages: []sdk.SampleMessage{sdk.UserText(prompt)}, MaxTokens: 50}}
}

func listRoots(key string) sdk.InputRequest {
	return sdk.InputRequest{Key: key, Method: sdk.MethodRoots, Params: none{}}
}

// accepted returns a field of the form that the user filled in, or false.
func accepted[T any](c *sdk.Call, key, field string) (T, bool) {
	var answer struct {
		Action  sdk.Action
		Content map[string]json.RawMessage
	}
	var value T
	if json.Unmarshal(c.InputResponses()[key], &answer) != nil || answer.Action != sdk.Accepted {
		return value, false
	}
	return value, json.Unmarshal(answer.Content[field], &value) == nil
}

// badState is the error for a state that is not ours.
func badState() error {
	return &sdk.Error{Code: sdk.CodeInvalidParams, Message: "the request state is not valid"}
}

func confirm(_ context.Context, c *sdk.Call, _ none) (string, error) {
	if state := c.State(); state != nil && string(state) != stateConfirm {
		return "", badState()
	}
	if _, ok := accepted[bool](c, "confirm", "ok"); ok && c.State() != nil {
		return "state-ok: the state came back and the confirmation was accepted", nil
	}
	return "", &sdk.InputRequired{Requests: []sdk.InputRequest{question("confirm", "Please confirm", "ok", "boolean")}, State: []byte(stateConfirm)}
}

func multipleInputs(_ context.Context, c *sdk.Call, _ none) (string, error) {
	if state := c.State(); state != nil && string(state) != stateMultiple {
		return "", badState()
	}
	name, named := accepted[string](c, "user_name", "name")
	responses := c.InputResponses()
	var greeting sdk.SampleResult
	greeted := json.Unmarshal(responses["greeting"], &greeting) == nil && len(greeting.Content) > 0
	var roots struct{ Roots *[]sdk.Root }
	rooted := json.Unmarshal(responses["client_roots"], &roots) == nil && roots.Roots != nil
	if named && greeted && rooted {
		return fmt.Sprintf("%s %s, %d root(s) are visible", greeting.Text(), name, len(*roots.Roots)), nil
	}
	return "", &sdk.InputRequired{State: []byte(stateMultiple), Requests: []sdk.InputRequest{
		question("user_name", "What is your name?", "name", "string"), sampling("greeting", "Generate a greeting"), listRoots("client_roots"),
	}}
}

func multiRound(_ context.Context, c *sdk.Call, _ none) (string, error) {
	first := &sdk.InputRequired{Requests: []sdk.InputRequest{question("step1", "Step 1: What is your name?", "name", "string")}, State: []byte(stateRound1)}
	second := func(name string) error {
		return &sdk.InputRequired{
			Requests: []sdk.InputRequest{question("step2", "Step 2: What is your favorite color?", "color", "string")}, State: []byte(stateRound2 + name),
		}
	}
	state := string(c.State())
	name, isSecond := strings.CutPrefix(state, stateRound2)
	switch {
	case c.State() == nil:
		return "", first
	case state == stateRound1:
		if name, ok := accepted[string](c, "step1", "name"); ok {
			return "", second(name)
		}
		return "", first
	case isSecond:
		if color, ok := accepted[string](c, "step2", "color"); ok {
			return fmt.Sprintf("Multi-round complete: %s likes %s", name, color), nil
		}
		return "", second(name)
	}
	return "", badState()
}

func byCapability(_ context.Context, c *sdk.Call, _ none) (string, error) {
	var requests []sdk.InputRequest
	if c.Supports("elicitation") {
		requests = append(requests, question("user_name", "What is your name?", "name", "string"))
	}
	if c.Supports("sampling") {
		requests = append(requests, sampling("greeting", "Generate a short greeting"))
	}
	if c.Supports("roots") {
		requests = append(requests, listRoots("client_roots"))
	}
	if len(requests) == 0 {
		return "The client declared nothing that it could be asked for.", nil
	}
	responses := c.InputResponses()
	for _, request := range requests {
		if _, ok := responses[request.Key]; !ok {
			return "", &sdk.InputRequired{Requests: requests}
		}
	}
	return "All that the client can give was given.", nil
}
