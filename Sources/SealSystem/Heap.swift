import CHeap

/// The heap of this process, as its allocator sees it.
public struct Heap: Sendable {
    /// Bytes that are in use.
    public let used: Int
    /// Bytes that were given back, and are kept for what comes.
    public let kept: Int

    /// Nil where the allocator does not say.
    public static var now: Heap? {
        var heap = sealkit_heap()
        guard sealkit_heap_read(&heap) else { return nil }
        return Heap(used: Int(clamping: heap.used), kept: Int(clamping: heap.kept))
    }

    /// Keeps what threads have given back within few parts of the heap. A program whose threads come and go would keep
    /// some of it in each of eight parts a processor.
    /// - Parameter most: parts; to be called before there are threads.
    public static func limitArenas(_ most: Int) { sealkit_heap_limit_arenas(Int32(clamping: most)) }
}
