/// What a write has to itself while it runs: nobody else's write with the same home runs at the same time.
///
/// An engine with one writer, like SQLite, gives every write everything. One with several goes by this, so each write
/// names its home: a narrower one than it needs would let it see half of what another one does.
package enum Home: Hashable, Sendable {
    case everything
}
