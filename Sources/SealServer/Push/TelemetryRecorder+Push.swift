import SealStorage

extension TelemetryRecorder {
    /// Each stream that is open, once: over an hour a stream counts sixty times.
    func note(open streams: EventStreams) {
        for (place, count) in streams.counts { note(.event(.stream, "open", in: place), count: count) }
    }
}
