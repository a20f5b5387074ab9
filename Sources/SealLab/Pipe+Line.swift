public import Foundation

extension Pipe {
    /// What was written up to the first end of line, at least; all of it when the writer ends before.
    ///
    /// `FileHandle.availableData` ends the program when a signal interrupts it.
    public func readLine() -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !text.contains(0x0A) {
            let count = read(fileHandleForReading.fileDescriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
