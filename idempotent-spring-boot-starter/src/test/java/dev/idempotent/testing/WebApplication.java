package dev.idempotent.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A Boot application on a free port of this machine, spoken to over real HTTP.
 */
public final class WebApplication implements AutoCloseable {

	/**
	 * Lets an application have Spring Security, which is left out otherwise.
	 */
	public static final String WITH_SECURITY = "test.with-security=true";

	/**
	 * Lets an application have a DataSource, which is left out otherwise.
	 */
	public static final String WITH_DATABASE = "test.with-database=true";

	/**
	 * Lets an application with a DataSource have JPA, which is left out otherwise.
	 */
	public static final String WITH_JPA = "test.with-jpa=true";

	/**
	 * Lets an application have springdoc, which is left out otherwise.
	 */
	public static final String WITH_SPRINGDOC = "test.with-springdoc=true";

	/**
	 * Lets an application have Actuator, meters and observations, which are left out if
	 * it has no property {@code management.*}.
	 */
	public static final String WITH_OPERATIONS = "test.with-operations=true";

	/**
	 * Lets an application have an MCP server, which is left out otherwise.
	 */
	public static final String WITH_TOOLS = "test.with-tools=true";

	private final ConfigurableApplicationContext context;

	private final HttpClient client = newClient();

	private WebApplication(ConfigurableApplicationContext context) {
		this.context = context;
	}

	/**
	 * Starts an application.
	 * @param source its configuration
	 * @param redis the Redis that it uses
	 * @param properties further properties, as {@code name=value}
	 */
	public static WebApplication start(Class<?> source, RedisTopology redis, String... properties) {
		List<String> arguments = new ArrayList<>(List.of("--server.port=0", "--server.address=127.0.0.1",
				"--idempotent.namespace=test", "--spring.main.banner-mode=off"));
		redis.properties().forEach((property) -> arguments.add("--" + property));
		List.of(properties).forEach((property) -> arguments.add("--" + property));
		SpringApplication application = new SpringApplication(source);
		application.setWebApplicationType(WebApplicationType.SERVLET);
		// A test that is about this time-out states one of its own.
		application.setDefaultProperties(Map.of("idempotent.redis.timeout", "10s", "test.with-database", "false"));
		return new WebApplication(application.run(arguments.toArray(String[]::new)));
	}

	public <T> T bean(Class<T> type) {
		return this.context.getBean(type);
	}

	/**
	 * A request to this application, without its method.
	 */
	public HttpRequest.Builder request(String path) {
		String port = this.context.getEnvironment().getRequiredProperty("local.server.port");
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
	}

	/**
	 * Posts JSON.
	 * @param headers names and values in turn
	 */
	public HttpResponse<byte[]> post(String path, String json, String... headers) {
		return send(postRequest(path, json, headers));
	}

	public CompletableFuture<HttpResponse<byte[]>> postAsync(String path, String json, String... headers) {
		return this.client.sendAsync(postRequest(path, json, headers), BodyHandlers.ofByteArray());
	}

	public HttpResponse<byte[]> send(HttpRequest request) {
		return send(request, this.client);
	}

	/**
	 * Sends a request over a connection that no later one uses: after some failures,
	 * Jetty closes the connection without having announced it.
	 */
	public HttpResponse<byte[]> sendAlone(HttpRequest request) {
		return send(request, newClient());
	}

	private static HttpResponse<byte[]> send(HttpRequest request, HttpClient client) {
		try {
			return client.send(request, BodyHandlers.ofByteArray());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * A client that does not ask each server for HTTP/2, which none of them speaks.
	 */
	private static HttpClient newClient() {
		return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
	}

	public static String text(HttpResponse<byte[]> response) {
		return new String(response.body(), StandardCharsets.UTF_8);
	}

	private HttpRequest postRequest(String path, String json, String... headers) {
		HttpRequest.Builder request = request(path).header("Content-Type", "application/json")
			.POST(BodyPublishers.ofString(json));
		return ((headers.length > 0) ? request.headers(headers) : request).build();
	}

	@Override
	public void close() {
		this.context.close();
	}

}
