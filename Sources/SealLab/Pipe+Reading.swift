public import Foundation

/// Reading that a signal does not end: `FileHandle` ends the program when a child's end interrupts it.
extension Pipe {
    /// What was written up to the first end of line, at least; all of it when the writer ends before.
    public func readLine() -> String { String(decoding: read { $0.contains(0x0A) }, as: UTF8.self) }

    /// All that is written until the writer ends.
    public func readAll() -> Data { Data(read { _ in false }) }

    private func read(until isEnough: (ArraySlice<UInt8>) -> Bool) -> [UInt8] {
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Foundation.read(fileHandleForReading.fileDescriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return content }
            content += buffer[..<count]
            if isEnough(buffer[..<count]) { return content }
        }
    }
}
