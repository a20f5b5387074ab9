public import Foundation

/// Reading that a signal does not end: `FileHandle` ends the program when a child's end interrupts it.
extension Pipe {
    /// What was written up to the first end of line, at least; all of it when the writer ends before.
    public func readLine() -> String { String(decoding: read { $0.contains(0x0A) }, as: UTF8.self) }

    /// All that is written until the writer ends.
    public func readAll() -> Data { Data(read { _ in false }) }

    /// The next line of a program that goes on, without its end, waited for without holding a thread of Swift's pool.
    public func line() async -> String {
        await Thread.waiting {
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while true {
                let count = Foundation.read(self.fileHandleForReading.fileDescriptor, &byte, 1)
                if count < 0, errno == EINTR { continue }
                guard count > 0, byte != 0x0A else { return String(decoding: line, as: UTF8.self) }
                line.append(byte)
            }
        }
    }

    /// All that is written until the writer ends, waited for likewise.
    public func text() async -> String { await Thread.waiting { String(decoding: self.readAll(), as: UTF8.self) } }

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
