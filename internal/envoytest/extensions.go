package envoytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Extensions is the table of lint/target for the installed Envoy, as Envoy reports it in its first ADS request:
// an extension a line (category, name, type URLs), sorted.
func Extensions(ctx context.Context) (string, error) {
	ads, err := Start(ctx)
	if err != nil {
		return "", err
	}
	defer ads.Close()
	node := ads.Node()
	var lines []string
	for _, x := range node.GetExtensions() {
		urls := slices.Sorted(slices.Values(x.GetTypeUrls()))
		lines = append(lines, strings.Join(append([]string{x.GetCategory(), x.GetName()}, urls...), " "))
	}
	slices.Sort(lines)
	v := node.GetUserAgentBuildVersion().GetVersion()
	head := fmt.Sprintf("# Extensions of the official Envoy %d.%d.%d: category, name, type URLs. Made by `make update`.\n",
		v.GetMajorNumber(), v.GetMinorNumber(), v.GetPatch())
	return head + strings.Join(lines, "\n") + "\n", nil
}
