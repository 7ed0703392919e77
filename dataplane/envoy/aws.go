package envoy

import "strings"

// arnParts is the least number of parts of the ARN of a function.
const arnParts = 7

// IsARN reports whether Envoy takes a text as the ARN of a function (parseArn in
// source/extensions/filters/http/aws_lambda/aws_lambda_filter.cc).
func IsARN(text string) bool {
	return strings.HasPrefix(text, "arn:") && strings.Count(text, ":") >= arnParts-1
}

// IsRegionSet reports whether AWS takes the name of a region for a set of regions (isARegionSet in
// source/extensions/filters/http/aws_request_signing/config.cc).
func IsRegionSet(region string) bool { return strings.ContainsAny(region, "*,") }
