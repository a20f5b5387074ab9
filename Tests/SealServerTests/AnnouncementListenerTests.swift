import Foundation
import Synchronization
import Testing

@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct AnnouncementListenerTests {
    /// Whoever was told a million times is called as directly as at the first time.
    @Test func whoeverIsToldOftenIsCalledAsAtTheFirstTime() {
        let listener = AnnouncementListener()
        let depths = Mutex<[Int]>([])
        listener.listen { _ in
            let depth = Thread.callStackReturnAddresses.count
            depths.withLock { $0.append(depth) }
        }
        for _ in 0..<50 { listener.tell([.webhooks]) }
        listener.tell([])
        let found = depths.withLock { $0 }
        #expect(found.count == 50)
        #expect(Set(found).count == 1)
        #expect(found[0] > 1)
    }
}
