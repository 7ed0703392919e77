package resolve

// Answer is what a client does with an RPC. As JSON, it has the fields that docs/route.md lists.
type Answer struct {
	Listener    string            `json:"listener"`        // that the client asks for
	FilterChain string            `json:"chain,omitempty"` // the filter chain of a server
	RouteConfig string            `json:"route_config,omitempty"`
	VirtualHost string            `json:"vhost,omitempty"`
	Ways        []*Way            `json:"ways"` // one, unless chance decides
	Unknown     map[string]string `json:"unknown,omitempty"`

	Passed []Passed `json:"-"` // virtual hosts
}

// Way is one thing that can happen to an RPC.
type Way struct {
	Share     float64    `json:"share"` // of the RPCs
	Route     string     `json:"route,omitempty"`
	Cluster   string     `json:"cluster,omitempty"` // that the route names
	Code      string     `json:"code"`              // OK if the RPC gets to an endpoint
	Message   string     `json:"message,omitempty"` // in that of grpc-go
	Why       string     `json:"why,omitempty"`
	Policy    string     `json:"policy,omitempty"` // of the cluster
	Endpoints []Locality `json:"endpoints,omitempty"`
	Standby   []Locality `json:"standby,omitempty"` // of lower priorities
	Delay     *Delay     `json:"delay,omitempty"`
	Deadline  string     `json:"deadline,omitempty"`
	RetryOn   []string   `json:"retry_on,omitempty"`

	Passed []Passed `json:"-"` // routes
}

// Locality is the endpoints of one locality and priority.
type Locality struct {
	Cluster   string   `json:"cluster,omitempty"` // the member of an aggregate
	Priority  uint32   `json:"priority"`
	Locality  string   `json:"locality,omitempty"`
	Share     float64  `json:"share,omitempty"` // of the RPCs, if the policy chooses localities by weight
	Addresses []string `json:"addresses"`
}

// Delay is a delay that a filter injects.
type Delay struct {
	Share float64 `json:"share"`
	By    string  `json:"by"`
}

// Passed is a candidate that does not take the RPC.
type Passed struct {
	Name string
	Why  string
}

// The codes of a client that sends no RPC, and of an endpoint that answers it.
const (
	answered    = "OK"
	unavailable = "UNAVAILABLE"
)
