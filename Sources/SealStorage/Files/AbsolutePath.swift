import Foundation

extension String {
    /// The same place from the root on, without links, dots and slashes too many: what is asked for the folder above
    /// it gives one, also of `.` and `..`. What is not there yet is named below what is.
    package var absolutePath: String {
        let whole = hasPrefix("/") ? self : FileManager.default.currentDirectoryPath + "/" + self
        var known = whole.split(separator: "/").map(String.init)
        var rest: [String] = []
        while !known.isEmpty {
            if let found = realpath("/" + known.joined(separator: "/"), nil) {
                defer { free(found) }
                known = String(cString: found).split(separator: "/").map(String.init)
                break
            }
            rest.insert(known.removeLast(), at: 0)
        }
        for part in rest where part != "." {
            if part == ".." { _ = known.popLast() } else { known.append(part) }
        }
        return "/" + known.joined(separator: "/")
    }

    /// Of an absolute path; the root is above itself. Foundation's own ends the process for a name of one letter.
    package var folderAbove: String {
        "/" + split(separator: "/").dropLast().joined(separator: "/")
    }

    /// Whether an absolute path is that of a folder, or below it.
    package func isWithin(_ folder: String) -> Bool {
        self == folder || hasPrefix(folder == "/" ? folder : folder + "/")
    }
}
