import ArgumentParser
import SealKit
import SealServer
