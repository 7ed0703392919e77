package http

import (
	"fmt"

	awslambdav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/aws_lambda/v3"
	awssigningv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/aws_request_signing/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "aws-invalid",
	Severity: lint.Error,
	Summary:  "a filter for AWS has an invalid ARN, or several regions where there can be one",
	Links: []string{
		"parseArn (source/extensions/filters/http/aws_lambda/aws_lambda_filter.cc)",
		"AwsRequestSigningFilterFactory::createSigner (source/extensions/filters/http/aws_request_signing/config.cc)",
	},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *awslambdav3.Config) {
		if !perRoute(at) {
			checkARN(p, at, m)
		}
	}), read.Of(func(p *lint.Pass, at lint.At, m *awslambdav3.PerRouteConfig) {
		checkARN(p, at.Field("invoke_config"), m.GetInvokeConfig())
	}), read.Of(checkRegion)),
})

func checkARN(p *lint.Pass, at lint.At, m *awslambdav3.Config) {
	if arn := m.GetArn(); !envoy.IsARN(arn) {
		p.Reject(at.Field("arn"), lint.Rejection{
			Message:  fmt.Sprintf("%q is not the ARN of a function", arn),
			Help:     "write arn:aws:lambda:REGION:ACCOUNT:function:NAME",
			Upstream: "aws_lambda_filter: Invalid ARN: " + arn,
		})
	}
}

func checkRegion(p *lint.Pass, at lint.At, m *awssigningv3.AwsRequestSigning) {
	if m.GetSigningAlgorithm() != awssigningv3.AwsRequestSigning_AWS_SIGV4A && envoy.IsRegionSet(m.GetRegion()) {
		p.Reject(at.Field("region"), lint.Rejection{
			Message:  fmt.Sprintf("SigV4 signs for one region, and %q is a set of several", m.GetRegion()),
			Help:     "write one region, or signing_algorithm: AWS_SIGV4A",
			Upstream: "SigV4 region string cannot contain wildcards or commas. Region sets can be specified when using signing_algorithm: AWS_SIGV4A.",
		})
	}
}
