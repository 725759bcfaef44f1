package dev.idempotent.autoconfigure.actuate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.ExposableWebEndpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoint;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.json.JsonWriter;
import org.springframework.core.io.ClassPathResource;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * The actuator's endpoint {@code console}: one page for operators, which reads and
 * changes what is stored through the other endpoints, and as far as these permit it.
 */
@WebEndpoint(id = "console")
final class ConsoleEndpoint {

	private static final EndpointId ID = EndpointId.of("console");

	private static final Set<String> USED = Set.of("health", "idempotency", "metrics", "outbox", "saga", "stream");

	private static final boolean WITH_CSRF_TOKENS = ClassUtils
		.isPresent("org.springframework.security.web.csrf.CsrfToken", ConsoleEndpoint.class.getClassLoader());

	private static final String DATA = "<script type=\"application/json\" id=\"console\">null</script>";

	private final Supplier<PathMappedEndpoints> exposed;

	private final String application;

	private final String policy;

	private final String page;

	/**
	 * Creates the endpoint.
	 * @param exposed supplies the endpoints that are exposed over HTTP
	 * @param application the name of the application
	 */
	ConsoleEndpoint(Supplier<PathMappedEndpoints> exposed, String application) {
		this.exposed = exposed;
		this.application = application;
		String resource = resource();
		Assert.state(resource.contains(DATA), "The page has no place for its data");
		this.policy = "default-src 'none'; style-src '" + hash(resource, "<style>", "</style>") + "'; script-src '"
				+ hash(resource, "<script>", "</script>")
				+ "'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";
		this.page = resource.replace("content=\"default-src 'none'\"", "content=\"" + this.policy + "\"");
	}

	@ReadOperation(produces = "text/html;charset=UTF-8")
	String page() {
		HttpServletRequest request = null;
		if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes servlet) {
			request = servlet.getRequest();
			if (servlet.getResponse() != null) {
				protect(servlet.getResponse());
			}
		}
		return this.page.replace(DATA, DATA.replace("null", data(request)));
	}

	private void protect(HttpServletResponse response) {
		response.setHeader("Content-Security-Policy", this.policy + "; frame-ancestors 'none'");
		response.setHeader("X-Frame-Options", "DENY");
		response.setHeader("X-Content-Type-Options", "nosniff");
		response.setHeader("Referrer-Policy", "no-referrer");
		response.setHeader("Cache-Control", "no-store");
	}

	/**
	 * Returns the data of the page, without a character that could end its element.
	 */
	private String data(@Nullable HttpServletRequest request) {
		Map<String, @Nullable Object> data = new LinkedHashMap<>();
		data.put("application", this.application);
		data.put("path", this.exposed.get().getPath(ID));
		data.put("endpoints", endpoints(this.exposed.get()));
		data.put("csrf", (WITH_CSRF_TOKENS && request != null) ? csrf(request) : null);
		return JsonWriter.standard().writeToString(data).replace("<", "\\u003c");
	}

	/**
	 * Returns the path of each endpoint that the page can use, and whether it has changes
	 * to offer.
	 */
	private static Map<String, Object> endpoints(PathMappedEndpoints exposed) {
		Map<String, Object> endpoints = new TreeMap<>();
		for (PathMappedEndpoint mapped : exposed) {
			if (mapped instanceof ExposableWebEndpoint endpoint && USED.contains(endpoint.getEndpointId().toString())) {
				boolean write = endpoint.getOperations()
					.stream()
					.anyMatch((operation) -> operation.getType() != OperationType.READ);
				endpoints.put(endpoint.getEndpointId().toString(),
						Map.of("path", String.valueOf(exposed.getPath(endpoint.getEndpointId())), "write", write));
			}
		}
		return endpoints;
	}

	private static @Nullable Map<String, String> csrf(HttpServletRequest request) {
		return (request.getAttribute(CsrfToken.class.getName()) instanceof CsrfToken token)
				? Map.of("header", token.getHeaderName(), "token", token.getToken()) : null;
	}

	private static String resource() {
		try {
			// A browser computes the hashes after it has normalized the ends of lines.
			return new ClassPathResource("dev/idempotent/console/console.html", ConsoleEndpoint.class.getClassLoader())
				.getContentAsString(StandardCharsets.UTF_8)
				.replace("\r\n", "\n");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String hash(String resource, String start, String end) {
		int from = resource.indexOf(start) + start.length();
		byte[] content = resource.substring(from, resource.indexOf(end, from)).getBytes(StandardCharsets.UTF_8);
		try {
			return "sha256-" + Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(content));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
