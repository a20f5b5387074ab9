public import ArgumentParser
public import SealKit

extension ServerOperator.Telemetry.Dimension: ExpressibleByArgument {}
