/// Where vectors were to be read there are none.
package struct NothingToRead: Error {
    package let reason: String
}
