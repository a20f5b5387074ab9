import Foundation

/// Where file systems are mounted, as far as the system lists them: one that is bound from the same disk shows in no
/// device number.
enum MountPoints {
    /// - Parameter path: absolute.
    static func has(_ path: String) -> Bool {
        guard let table = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8) else { return false }
        return table.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            return fields.count > 4 && unescaped(fields[4]) == path
        }
    }

    /// The kernel writes blanks, tabs, line ends and backslashes as octal numbers.
    private static func unescaped(_ field: Substring) -> String {
        ["\\040": " ", "\\011": "\t", "\\012": "\n", "\\134": "\\"].reduce(String(field)) {
            $0.replacingOccurrences(of: $1.key, with: $1.value)
        }
    }
}
