package dev.idempotent.sample.checkout;

import dev.idempotent.sample.servers.PointsServer;
import org.springframework.aot.AotDetector;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * The addresses of the services that a checkout calls.
 */
@Component
public class Services {

	private final ServiceProperties properties;

	private final PointsServer points;

	private final Environment environment;

	Services(ServiceProperties properties, PointsServer points, Environment environment) {
		this.properties = properties;
		this.points = points;
		this.environment = environment;
	}

	/**
	 * Returns the address of the payment gateway.
	 */
	public String gateway() {
		String configured = this.properties.gateway();
		return (configured != null) ? configured
				: "http://127.0.0.1:" + this.environment.getRequiredProperty("local.server.port");
	}

	/**
	 * Returns whether there is a points service. The build does not process the one of
	 * this JVM ahead of time, so that it cannot start then.
	 */
	boolean hasPoints() {
		return this.properties.points() != null || !AotDetector.useGeneratedArtifacts();
	}

	/**
	 * Returns the address of the points service, and starts it if it does not run.
	 */
	public String points() {
		String configured = this.properties.points();
		return (configured != null) ? configured : this.points.url();
	}

}
