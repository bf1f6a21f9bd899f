//! Reasons of events. `docs/controller.md` says what each means and what to do; a test compares the two.

pub(crate) const ANNOUNCED: &str = "Announced";
pub(crate) const WITHDRAWN: &str = "AnnouncementWithdrawn";
pub(crate) const WAITING: &str = "WaitingToAnnounce";
pub(crate) const CANNOT: &str = "CannotAnnounce";
pub(crate) const UNREACHABLE: &str = "ServerUnreachable";
pub(crate) const CERTIFICATE: &str = "ServerCertificateInvalid";
pub(crate) const USER: &str = "ServerRefusesUser";
pub(crate) const TOO_OLD: &str = "ServerTooOld";
pub(crate) const REFUSES: &str = "ServerRefuses";
pub(crate) const SEVERAL_SERVICES: &str = "SeveralServices";
pub(crate) const NO_GATEWAY_API: &str = "GatewayAPIUnavailable";
pub(crate) const GATEWAY_API: &str = "GatewayAPIAvailable";
