/// The messages that a client of a share, an account, zones, records and assets exchanges with a server, by the names
/// that SealWire's `.proto` files give them. What they hold is what arrived, and nothing of it is verified.
public enum Wire {}
