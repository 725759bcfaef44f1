package dev.idempotent.testing;

import java.util.List;

import org.testcontainers.containers.GenericContainer;

/**
 * A server in a container, on a port of this machine that it keeps for life.
 */
abstract class ContainerServer {

	private final int port = Ports.free();

	private final GenericContainer<?> container;

	ContainerServer(GenericContainer<?> container, int portInside) {
		this.container = container;
		// A port of Docker's choice would be another one after a stop.
		container.setPortBindings(List.of(this.port + ":" + portInside));
	}

	public String host() {
		return this.container.getHost();
	}

	public int port() {
		return this.port;
	}

	GenericContainer<?> container() {
		return this.container;
	}

}
