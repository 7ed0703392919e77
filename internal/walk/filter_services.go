package walk

import (
	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	oauth2v3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/oauth2/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// services are the filters whose services or scripts decide, as far as the configuration says that they are not asked.
var services = map[string]act{"ext_authz": extAuthz, "ext_proc": extProc, "lua": lua, "oauth2": oauth2, "ratelimit": rateLimit}

// asks notes that a filter asks for what is not in the input, and that it may answer.
func (j *journey) asks(v visit, what string) bool {
	if last := len(j.answer.Filters) - 1; last >= 0 {
		j.answer.Filters[last].Why = "it " + what
	}
	j.answer.doubt(unknownStatus, "the filter "+v.Message.GetName()+" "+what)
	return true
}

// extAuthz follows Filter::decodeHeaders of ext_authz up to the question.
func extAuthz(j *journey, v visit) bool {
	config, _ := v.Config.(*extauthzv3.ExtAuthz)
	if own, ok := v.own.(*extauthzv3.ExtAuthzPerRoute); j.level == nil && !j.redirect || ok && own.GetDisabled() {
		return true
	}
	off := config.GetFilterEnabled() != nil && j.fraction(config.GetFilterEnabled()) == match.No
	switch denies := config.GetDenyAtDisable(); {
	case off && denies == nil, off && denies.GetRuntimeKey() == "" && !denies.GetDefaultValue().GetValue():
		return true
	case off:
		status := int(config.GetStatusOnError().GetCode())
		if status == 0 {
			status = 403
		}
		return j.answers(status, "ext_authz_error", "UAEX")
	}
	return j.asks(v, "asks a service, which can deny the request (403 unless the service says otherwise)")
}

// extProc reports whether a route leaves out the external processor.
func extProc(j *journey, v visit) bool {
	if own, ok := v.own.(*extprocv3.ExtProcPerRoute); ok && own.GetDisabled() {
		return true
	}
	return j.asks(v, "asks a service, which can answer or change the request")
}

// lua reports whether there is a script for the route.
func lua(j *journey, v visit) bool {
	config, _ := v.Config.(*luav3.Lua)
	own, ok := v.own.(*luav3.LuaPerRoute)
	//nolint:staticcheck // inline_code is deprecated, and in use
	if ok && own.GetDisabled() || !ok && config.GetDefaultSourceCode() == nil && config.GetInlineCode() == "" {
		return true
	}
	return j.asks(v, "runs a script, which can answer or change the request")
}

// oauth2 follows OAuth2Filter::decodeHeaders up to the token.
func oauth2(j *journey, v visit) bool {
	made, _ := v.Config.(*oauth2v3.OAuth2)
	config := made.GetConfig()
	if own, ok := v.own.(*oauth2v3.OAuth2PerRoute); ok {
		config = own.GetConfig()
	}
	if config == nil {
		return true
	}
	return j.asks(v, "can send the client to log in (302)")
}
