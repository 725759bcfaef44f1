package dev.idempotent.sample.servers;

import dev.idempotent.points.PointsApplication;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.stereotype.Component;

/**
 * Runs the points service in this JVM, on a free port of the loopback address. Starts at
 * its first use and stops with the application.
 */
@Component
public class PointsServer implements DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(PointsServer.class);

	private final JdbcConnectionDetails database;

	private @Nullable ConfigurableApplicationContext context;

	PointsServer(JdbcConnectionDetails database) {
		this.database = database;
	}

	/**
	 * Returns the address of the service, such as {@code http://127.0.0.1:43210}, when it
	 * takes requests.
	 */
	public synchronized String url() {
		ConfigurableApplicationContext running = this.context;
		if (running == null) {
			running = start();
			this.context = running;
		}
		return "http://127.0.0.1:" + running.getEnvironment().getRequiredProperty("local.server.port");
	}

	private ConfigurableApplicationContext start() {
		ConfigurableApplicationContext started = new SpringApplicationBuilder(PointsApplication.class)
			.registerShutdownHook(false)
			.run("--spring.config.name=points", "--server.port=0",
					"--spring.datasource.url=" + this.database.getJdbcUrl(),
					"--spring.datasource.username=" + this.database.getUsername(),
					"--spring.datasource.password=" + this.database.getPassword());
		logger.info("The points service runs on 127.0.0.1:{}",
				started.getEnvironment().getProperty("local.server.port"));
		return started;
	}

	@Override
	public synchronized void destroy() {
		if (this.context != null) {
			this.context.close();
		}
	}

}
