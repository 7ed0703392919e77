package grpc

import (
	"errors"
	"fmt"
	"strings"

	udpav1 "github.com/cncf/xds/go/udpa/type/v1"
	xdsv3 "github.com/cncf/xds/go/xds/type/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	weightedv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/client_side_weighted_round_robin/v3"
	leastv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/least_request/v3"
	ringv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/ring_hash/v3"
	localityv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/wrr_locality/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/graph"
)

// maxRing is the largest ring (ringhash.parseConfig, gRFC A42).
const maxRing = 8 << 20

// LoadBalancing checks the load balancing of a cluster (validateClusterAndConstructClusterUpdate, gRFCs A42, A48 and A52). Go validates lb_policy
// even if load_balancing_policy replaces it.
func (c Client) LoadBalancing(at graph.At, cluster *clusterv3.Cluster) (all []Fault) {
	replaced := cluster.GetLoadBalancingPolicy() != nil
	if !replaced || c.is(Go) {
		all = append(all, c.policy(at, cluster, replaced)...)
	}
	if replaced {
		all = append(all, c.policies(at.Field("load_balancing_policy"), cluster.GetLoadBalancingPolicy(), 0)...)
	}
	return all
}

func (c Client) policy(at graph.At, cluster *clusterv3.Cluster, replaced bool) []Fault {
	switch p := cluster.GetLbPolicy(); {
	case p == clusterv3.Cluster_ROUND_ROBIN:
		return nil
	case p == clusterv3.Cluster_RING_HASH:
		return c.ringHash(at.Field("ring_hash_lb_config"), cluster.GetRingHashLbConfig(), replaced)
	case p == clusterv3.Cluster_LEAST_REQUEST && !c.is(Core):
		if n := cluster.GetLeastRequestLbConfig().GetChoiceCount(); n != nil && n.GetValue() < 2 {
			return rejected(at.Field("least_request_lb_config", "choice_count"), fmt.Sprintf("choice_count is %d", n.GetValue()), "ChoiceCount must be >= 2", "write a number from 2 to 10")
		}
		return nil
	case replaced:
		return rejected(at.Field("lb_policy"), fmt.Sprintf("grpc-go rejects the lb_policy %s, although load_balancing_policy replaces it", p), "unexpected lbPolicy", "remove lb_policy")
	default:
		return rejected(at.Field("lb_policy"), fmt.Sprintf("gRPC does not support the lb_policy %s", p), "unexpected lbPolicy", "write ROUND_ROBIN, LEAST_REQUEST or RING_HASH, or use load_balancing_policy")
	}
}

// ringHash checks the ring of lb_policy RING_HASH. Go accepts sizes from which it then cannot build the ring.
func (c Client) ringHash(at graph.At, ring *clusterv3.Cluster_RingHashLbConfig, replaced bool) []Fault {
	if ring.GetHashFunction() != clusterv3.Cluster_RingHashLbConfig_XX_HASH {
		return rejected(at.Field("hash_function"), fmt.Sprintf("gRPC does not have the hash function %s", ring.GetHashFunction()), "unsupported ring_hash hash function", "write XX_HASH")
	}
	least, most := uint64(1024), uint64(maxRing)
	if ring.GetMinimumRingSize() != nil {
		least = ring.GetMinimumRingSize().GetValue()
	}
	if ring.GetMaximumRingSize() != nil {
		most = ring.GetMaximumRingSize().GetValue()
	}
	message := c.ringSizes(least, most)
	switch {
	case message == "" || replaced:
		return nil
	case c.is(Go):
		return accepted(at, Fails, message, "fails all RPCs to the cluster with UNAVAILABLE", ringHelp)
	}
	return rejected(at, message, "", ringHelp)
}

const ringHelp = "write a minimum_ring_size and a maximum_ring_size of at most 8388608, the first one not larger than the second"

// ringSizes says what is wrong with the sizes of a ring (ringhash.parseConfig). In Go, 0 means the default. Java clamps large rings.
func (c Client) ringSizes(least, most uint64) string {
	if c.is(Go) {
		if least == 0 {
			least = 1024
		}
		if most == 0 {
			most = 4096
		}
	}
	switch {
	case (least > maxRing || most > maxRing) && !c.is(Java):
		return "the ring is larger than 8388608 entries"
	case least > most:
		return fmt.Sprintf("the smallest ring has %d entries, and the largest one %d", least, most)
	case least == 0 || most == 0:
		return "the ring has no entries"
	}
	return ""
}

// policies checks the first policy that the client supports (xdslbregistry.ConvertToServiceConfig). It does not read those after it.
func (c Client) policies(at graph.At, p *clusterv3.LoadBalancingPolicy, depth int) []Fault {
	if depth > 15 {
		return rejected(at, "load balancing policies are nested more than 16 levels deep", "exceeds max depth supported: 16 layers", "remove levels")
	}
	switch one, ok := c.first(at, p); {
	case !ok:
		return rejected(at, "gRPC supports none of the load balancing policies", "no supported policy found in policy list", "add one that it has: RoundRobin, PickFirst, RingHash, LeastRequest, ClientSideWeightedRoundRobin or WrrLocality")
	case one.custom:
		return c.custom(one.at, one.name, one.config.(*structpb.Struct))
	default:
		return c.typed(one.at, one.config, depth)
	}
}

// lbPolicy is a load balancing policy that a client supports: its name in gRPC, and its configuration.
type lbPolicy struct {
	at     graph.At
	name   string
	config any
	custom bool // the configuration is a Struct
}

// first returns the first policy of a list that the client supports.
func (c Client) first(at graph.At, p *clusterv3.LoadBalancingPolicy) (lbPolicy, bool) {
	for i, one := range p.GetPolicies() {
		any := one.GetTypedExtensionConfig().GetTypedConfig()
		at := at.Item("policies", i).Field("typed_extension_config", "typed_config")
		switch m := at.Content(any).(type) {
		case *xdsv3.TypedStruct:
			if name := lastPart(m.GetTypeUrl()); c.named(policies, name) {
				return lbPolicy{at, name, m.GetValue(), true}, true
			}
		case *udpav1.TypedStruct:
			if name := lastPart(m.GetTypeUrl()); c.named(policies, name) {
				return lbPolicy{at, name, m.GetValue(), true}, true
			}
		default:
			if name := c.nameOf(policies, typeName(any)); name != "" {
				return lbPolicy{at, name, m, false}, true
			}
		}
	}
	return lbPolicy{}, false
}

func (c Client) typed(at graph.At, config any, depth int) []Fault {
	switch m := config.(type) {
	case *ringv3.RingHash:
		return c.ring(at, m)
	case *leastv3.LeastRequest:
		if n := m.GetChoiceCount(); n != nil && n.GetValue() < 2 && (n.GetValue() != 0 || !c.is(Go)) { // in Go, 0 means the default
			return rejected(at.Field("choice_count"), fmt.Sprintf("choice_count is %d", n.GetValue()), "must be >= 2", "write a number from 2 to 10")
		}
	case *weightedv3.ClientSideWeightedRoundRobin:
		if m.GetErrorUtilizationPenalty().GetValue() < 0 {
			return rejected(at.Field("error_utilization_penalty"), "error_utilization_penalty is negative", "errorUtilizationPenalty must be non-negative", "write a number of 0 or more")
		}
	case *localityv3.WrrLocality:
		return c.policies(at.Field("endpoint_picking_policy"), m.GetEndpointPickingPolicy(), depth+1)
	}
	return nil
}

func (c Client) ring(at graph.At, m *ringv3.RingHash) []Fault {
	if h := m.GetHashFunction(); h != ringv3.RingHash_XX_HASH && (h != ringv3.RingHash_DEFAULT_HASH || !c.is(Core)) { //nolint:staticcheck // deprecated, and in use
		return rejected(at, fmt.Sprintf("gRPC does not take the hash function %s", h), "unsupported ring_hash hash function", "write hash_function: XX_HASH")
	}
	least, most := uint64(1024), uint64(maxRing)
	if m.GetMinimumRingSize() != nil {
		least = m.GetMinimumRingSize().GetValue()
	}
	if m.GetMaximumRingSize() != nil {
		most = m.GetMaximumRingSize().GetValue()
	}
	if message := c.ringSizes(least, most); message != "" {
		return rejected(at, message, "ring_hash_experimental is invalid", ringHelp)
	}
	return nil
}

// custom checks a policy that a TypedStruct names, in the JSON of gRPC (convertCustomPolicy and the ParseConfig of each policy).
func (c Client) custom(at graph.At, name string, config *structpb.Struct) []Fault {
	err := c.configured(name, config, 0)
	if err == nil {
		return nil
	}
	return rejected(at, fmt.Sprintf("the configuration of %s is wrong: %s", name, err), "error parsing loadBalancingConfig", "write it as the service config of gRPC describes the policy")
}

var errNoPolicy = errors.New("it has no child policy that gRPC supports")

// configured checks the configuration of a policy in a service config.
func (c Client) configured(name string, config *structpb.Struct, depth int) error {
	o := object{config}
	switch name {
	case "pick_first":
		return o.bools("shuffleAddressList")
	case "least_request_experimental":
		n, err := o.number("choiceCount", 2)
		if err == nil && n < 2 {
			err = fmt.Errorf("choiceCount is %v", n)
		}
		return err
	case "ring_hash_experimental":
		least, err1 := o.number("minRingSize", 0)
		most, err2 := o.number("maxRingSize", 0)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if message := c.ringSizes(uint64(least), uint64(most)); message != "" {
			return errors.New(message)
		}
		return o.texts("requestHashHeader")
	case "weighted_round_robin":
		penalty, err := o.float("errorUtilizationPenalty", 1)
		if err == nil && penalty < 0 {
			err = errors.New("errorUtilizationPenalty is negative")
		}
		return errors.Join(err, o.bools("enableOobLoadReport"), o.durations("oobReportingPeriod", "blackoutPeriod", "weightExpirationPeriod", "weightUpdatePeriod"))
	case "xds_wrr_locality_experimental", "wrr_locality_experimental":
		return c.child(o, depth)
	}
	return nil
}

// child checks the list childPolicy, of which the first known policy is taken (BalancerConfig.UnmarshalJSON).
func (c Client) child(o object, depth int) error {
	list := o.GetFields()["childPolicy"].GetListValue()
	if depth > 15 {
		return errNoPolicy
	}
	for _, v := range list.GetValues() {
		fields := v.GetStructValue().GetFields()
		if len(fields) != 1 {
			return errors.New("an entry of childPolicy does not have exactly one policy")
		}
		for name, config := range fields {
			if !c.named(policies, name) {
				continue
			}
			if config.GetStructValue() == nil {
				return fmt.Errorf("the configuration of %s is not an object", strings.ToLower(name))
			}
			return c.configured(name, config.GetStructValue(), depth+1)
		}
	}
	return errNoPolicy
}
