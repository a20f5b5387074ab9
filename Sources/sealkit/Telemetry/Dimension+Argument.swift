public import ArgumentParser
public import SealKit

extension ServerOperator.Telemetry.Dimension: ExpressibleByArgument {}
extension ServerOperator.Event.Kind: ExpressibleByArgument {}
extension ServerOperator.Alert.Measure: ExpressibleByArgument {}
