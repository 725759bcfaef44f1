package dev.idempotent.idempotency.web.matrix;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.WebApplication;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletRequest;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.util.StreamUtils;

/**
 * Other features that an application may use.
 */
enum Flavour {

	PLAIN(MatrixApplication.class, "server.compression.enabled=false"),

	SECURED(SecuredApplication.class, WebApplication.WITH_SECURITY),

	COMPRESSED(MatrixApplication.class, "server.compression.enabled=true"),

	ON_VIRTUAL_THREADS(MatrixApplication.class, "spring.threads.virtual.enabled=true"),

	ON_JETTY(DrainedApplication.class, "test.container=jetty");

	/**
	 * The longest body that these applications store, in bytes.
	 */
	static final int MAX_RESPONSE_BODY = 64 * 1024;

	private static final int FIRST_JAVA_WITH_VIRTUAL_THREADS = 21;

	private final Class<?> source;

	private final String property;

	Flavour(Class<?> source, String property) {
		this.source = source;
		this.property = property;
	}

	boolean isPossible() {
		return this != ON_VIRTUAL_THREADS || Runtime.version().feature() >= FIRST_JAVA_WITH_VIRTUAL_THREADS;
	}

	WebApplication start(RealRedis redis, String... more) {
		List<String> properties = new ArrayList<>(List.of(more));
		properties.add(this.property);
		// Else the port, which differs from that of the other application, is in
		// Location.
		properties.add("server.tomcat.use-relative-redirects=true");
		// Handlers may still run after a time-out.
		properties.add("server.shutdown=immediate");
		// Else Tomcat adds Connection: close to every hundredth response.
		properties.add("server.tomcat.max-keep-alive-requests=-1");
		properties.add("server.compression.min-response-size=1B");
		properties.add("idempotent.web.max-response-body=" + MAX_RESPONSE_BODY + "B");
		return WebApplication.start(this.source, redis, properties.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@Import(MatrixApplication.class)
	static class SecuredApplication {

		@Bean
		SecurityFilterChain securityFilterChain(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

	}

	/**
	 * Jetty closes a connection whose request has not been read to its end, and the
	 * client may lose the response with it.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import(MatrixApplication.class)
	static class DrainedApplication {

		@Bean
		FilterRegistrationBean<Filter> drain() {
			return new FilterRegistrationBean<>((request, response, chain) -> {
				chain.doFilter(request, response);
				if (!request.isAsyncStarted()) {
					drain(request);
				}
			});
		}

		private static void drain(ServletRequest request) throws IOException {
			try {
				StreamUtils.drain(request.getInputStream());
			}
			catch (IllegalStateException ex) {
				// A handler has read the body through the reader.
			}
		}

	}

}
