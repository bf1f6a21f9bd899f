//! The stable identifiers of findings: what a pipeline may depend on. Wording may change, these do not.

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal,)+) => {
        /// What a finding is about. `docs/errors.md` has a heading for each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Rule] = &[$(Rule::$name,)+];

            /// The identifier, as in `tags.rule` of a result.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self {
                    $(Rule::$name => $id,)+
                }
            }
        }
    };
}

rules! {
    /// The text is not YAML.
    YamlSyntax = "yaml-syntax",
    /// A key is there twice in an object that is read.
    DuplicateKey = "duplicate-key",
    /// A budget against hostile input is spent: size, nesting, aliases.
    Budget = "budget",
    /// Standard input is not one ResourceList.
    NotAList = "not-a-resource-list",
    /// The functionConfig is of a kind that is not known.
    UnknownConfig = "unknown-config",
    /// `announce` or `live` where nobody reads it.
    AnnounceUnused = "announce-unused",
    /// `announce: Command`, and a port or hostname that is not known before the cluster runs.
    CommandNeeds = "command-needs",
    /// `announce: Command`, and a cluster that has a command of its own.
    OwnCommand = "own-command",
    /// A cluster whose text cannot be edited so that it could be put back as it was.
    ClusterNotEditable = "cluster-not-editable",
    /// `announce: Live`, and nothing by which anybody outside could reach the nodes.
    LiveNeeds = "live-needs",
    /// What the controller has to find out for `announce: Live`.
    LiveFinds = "live-finds",
    /// A Valkey that cannot announce client ports.
    ValkeyVersion = "valkey-version",
    /// A certificate in the list that lacks a name that is announced or verified.
    CertificateName = "certificate-name",
    /// A field that does not exist.
    UnknownField = "unknown-field",
    /// A value of the wrong type.
    WrongType = "wrong-type",
    /// A value that is not one of those allowed.
    WrongValue = "wrong-value",
    /// A number out of its range.
    OutOfRange = "out-of-range",
    /// A ValkeyCluster of a version that is not known.
    UnknownVersion = "unknown-version",
    /// The same thing is said in the API's old and new place.
    TwoPlaces = "two-places",
    /// Two clusters of one name and namespace.
    DuplicateCluster = "duplicate-cluster",
    /// A cluster whose headless Service has the name of another cluster's Service.
    HeadlessService = "headless-service",
    /// `shards` or `replicas` out of range.
    Counts = "counts",
    /// More nodes than Valkey is advised to have.
    ManyNodes = "many-nodes",
    /// A cluster name that no Service can carry.
    ClusterName = "cluster-name",
    /// A name that makes the name of a Service too long.
    NameLength = "name-length",
    /// A name that makes the name of a StatefulSet too long for its pods' labels.
    WorkloadNameLength = "workload-name-length",
    /// A domain that is not a DNS name.
    Domain = "domain",
    /// A hostname prefix that the CRD refuses.
    HostnamePrefix = "hostname-prefix",
    /// A hostname that DNS cannot hold.
    HostnameLength = "hostname-length",
    /// Hostnames are preferred, or asked for in an annotation, and there is no domain.
    HostnameWithoutDomain = "hostname-without-domain",
    /// A gateway without a name or base port.
    GatewayIncomplete = "gateway-incomplete",
    /// A port past the range.
    PortRange = "port-range",
    /// `portsPerShard` is less than the nodes of a shard.
    PortsPerShard = "ports-per-shard",
    /// A NodePort that something else in the list has.
    NodePortTaken = "node-port-taken",
    /// Static NodePorts where Services have none.
    NodePortsUnused = "node-ports-unused",
    /// Pinned NodePorts that no Service gets.
    PinnedUnused = "pinned-unused",
    /// Services that lead nobody in from outside.
    InsideOnly = "inside-only",
    /// A setting of load balancers where there are none.
    LoadBalancerOnly = "load-balancer-only",
    /// Routes by SNI without what they need.
    SniNeeds = "sni-needs",
    /// Routes by SNI, and nobody known who announces the nodes' names.
    SniAnnouncement = "sni-announcement",
    /// Certificates without an issuer.
    IssuerMissing = "issuer-missing",
    /// Two Certificates for one Secret.
    CertificateShared = "certificate-shared",
    /// A Gateway that does not let routes or ListenerSets of another namespace attach.
    GatewayNotAllowed = "gateway-not-allowed",
    /// Listeners are to be added to a Gateway that is not in the list.
    GatewayNotInList = "gateway-not-in-list",
    /// Something is named with its namespace, and the cluster has none.
    NamespaceMissing = "namespace-missing",
    /// DNS records without targets.
    DnsTargets = "dns-targets",
    /// `externalTrafficPolicy` where it means nothing.
    TrafficPolicyUnused = "traffic-policy-unused",
    /// A field in the cluster that the operator's CRD does not have.
    DroppedByCrd = "dropped-by-crd",
    /// A placeholder in the cluster itself, where the operator takes it for text.
    PlaceholderInCluster = "placeholder-in-cluster",
    /// One listener name for several nodes.
    SectionName = "section-name",
    /// One fixed address for the Services of all shards.
    SameAddress = "same-address",
    /// One DNS name for the Services of all shards.
    SameDnsName = "same-dns-name",
    /// Two clusters on one listener.
    ListenerOverlap = "listener-overlap",
    /// More listeners than a Gateway may have.
    ListenerCount = "listener-count",
    /// The Gateway in the list has no TCP listener for a port.
    ListenerMissing = "listener-missing",
    /// Two clusters announce the same hostname and port, or may do so.
    HostnameOverlap = "hostname-overlap",
    /// Nodes that were there get other ports.
    PortsMoved = "ports-moved",
    /// The CustomResourceDefinition in the list does not serve the TCPRoutes that are rendered.
    RouteVersion = "route-version",
    /// An object that is not ours, or that cannot be changed where it lies, has one of our names.
    ForeignObject = "foreign-object",
    /// An output of an earlier run that is no longer wanted was removed.
    StaleRemoved = "stale-removed",
    /// A cluster that is exposed, and that the functionConfig does not speak for.
    NotSelected = "not-selected",
    /// An output of an earlier run whose cluster is not in the list was left.
    OrphanLeft = "orphan-left",
    /// A committed output that is not what would be rendered.
    Stale = "stale",
    /// NodePorts that cannot be pinned.
    Pin = "pin",
    /// A file or folder that cannot be read.
    File = "file",
    /// Nothing to do: no ValkeyCluster with external access.
    NothingToDo = "nothing-to-do",
}
