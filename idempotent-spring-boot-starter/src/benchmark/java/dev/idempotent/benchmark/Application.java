package dev.idempotent.benchmark;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A Boot application, which has what its class path brings but JPA and security, and
 * Kafka only if it is told where it is.
 */
public final class Application implements AutoCloseable {

	private static final String BOOT = "org.springframework.boot.";

	private static final List<String> LEFT_OUT = List.of(BOOT + "hibernate.autoconfigure.HibernateJpaAutoConfiguration",
			BOOT + "data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration",
			BOOT + "security.autoconfigure.SecurityAutoConfiguration",
			BOOT + "security.autoconfigure.UserDetailsServiceAutoConfiguration",
			BOOT + "security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
			BOOT + "security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
			BOOT + "security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration");

	private final ConfigurableApplicationContext context;

	private Application(ConfigurableApplicationContext context) {
		this.context = context;
	}

	/**
	 * Starts an application without a web server.
	 * @param source its configuration
	 * @param properties as {@code name=value}
	 * @return the running application
	 */
	public static Application start(Class<?> source, Collection<String> properties) {
		return start(source, WebApplicationType.NONE, List.of(), properties);
	}

	/**
	 * Starts an application with a web server on a free port.
	 * @param source its configuration
	 * @param leftOut the names of further auto-configurations to leave out
	 * @param properties as {@code name=value}
	 * @return the running application
	 */
	public static Application startWeb(Class<?> source, Collection<String> leftOut, Collection<String> properties) {
		List<String> all = new ArrayList<>(List.of("server.port=0", "server.address=127.0.0.1"));
		all.addAll(properties);
		return start(source, WebApplicationType.SERVLET, leftOut, all);
	}

	private static Application start(Class<?> source, WebApplicationType type, Collection<String> leftOut,
			Collection<String> properties) {
		List<String> excluded = new ArrayList<>(LEFT_OUT);
		excluded.addAll(leftOut);
		if (properties.stream().noneMatch((property) -> property.startsWith("spring.kafka."))) {
			excluded.add(BOOT + "kafka.autoconfigure.KafkaAutoConfiguration");
		}
		List<String> arguments = new ArrayList<>(List.of("--spring.main.banner-mode=off", "--logging.level.root=warn",
				"--spring.main.register-shutdown-hook=false",
				"--spring.autoconfigure.exclude=" + String.join(",", excluded)));
		properties.forEach((property) -> arguments.add("--" + property));
		SpringApplication application = new SpringApplication(source);
		application.setWebApplicationType(type);
		return new Application(application.run(arguments.toArray(String[]::new)));
	}

	/**
	 * A bean.
	 * @param <T> its type
	 * @param type its type
	 * @return the only one
	 */
	public <T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	/**
	 * All beans of a type.
	 * @param <T> their type
	 * @param type their type
	 * @return may be empty
	 */
	public <T> Collection<T> beans(Class<T> type) {
		return this.context.getBeansOfType(type).values();
	}

	/**
	 * Publishes an event to the beans of the application.
	 * @param event any object
	 */
	public void publish(Object event) {
		this.context.publishEvent(event);
	}

	/**
	 * The port of the web server.
	 * @return the port
	 */
	public int port() {
		return this.context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
	}

	@Override
	public void close() {
		this.context.close();
	}

}
