import Foundation

/// Where handlers of apps are called: each on a queue of its own, and never on a thread of Swift's pool. Handlers may
/// wait for a further call, and the pool's few threads are what that would need to go on.
enum HandlerQueue {
    static func make() -> DispatchQueue { DispatchQueue(label: "org.sealkit.cloudkit.handler") }

    static func call(_ handler: @escaping @Sendable () -> Void) { make().async(execute: handler) }
}

extension DispatchQueue {
    /// Calls a handler, and waits until it has returned.
    func called(_ handler: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { done in
            async {
                handler()
                done.resume()
            }
        }
    }
}
