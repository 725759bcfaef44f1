package dev.idempotent.autoconfigure.aot;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers the files that this library reads from the class path, and the optional
 * classes that it looks up by name.
 */
final class LibraryHints implements RuntimeHintsRegistrar {

	/**
	 * Lua scripts, scripts for tables, the page of the console, and the class files of
	 * the properties, of which the startup check reads the names.
	 */
	private static final List<String> FILES = List.of("dev/idempotent/**/*.lua", "dev/idempotent/schema/**/*.sql",
			"dev/idempotent/console/console.html", "dev/idempotent/autoconfigure/**/*Properties*.class");

	private static final List<String> OPTIONAL = List.of("com.github.benmanes.caffeine.cache.Cache",
			"jakarta.servlet.http.HttpServletResponse", "com.zaxxer.hikari.HikariDataSource",
			"org.hibernate.engine.spi.SessionImplementor", "org.springframework.orm.jpa.EntityManagerHolder",
			"org.springframework.security.core.context.SecurityContextHolder",
			"org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken",
			"org.springframework.security.oauth2.core.ClaimAccessor", "org.springframework.security.web.csrf.CsrfToken",
			"org.springframework.web.context.request.RequestContextHolder",
			"org.springframework.web.reactive.DispatcherHandler", "org.springframework.web.servlet.HandlerMapping",
			"org.springframework.ai.tool.annotation.Tool", "org.springframework.ai.mcp.annotation.McpTool",
			"io.modelcontextprotocol.server.McpServerFeatures");

	/**
	 * The start reads which objects their tools are methods of.
	 */
	private static final List<String> TOOLS = List.of("org.springframework.ai.tool.method.MethodToolCallbackProvider",
			"org.springframework.ai.tool.method.MethodToolCallback");

	/**
	 * Their payload is read to compare two deliveries, or their entries.
	 */
	private static final List<String> MESSAGES = List.of("org.springframework.messaging.Message",
			"org.apache.kafka.clients.consumer.ConsumerRecord", "org.springframework.amqp.core.Message",
			"jakarta.jms.TextMessage", "org.springframework.http.HttpHeaders",
			"io.modelcontextprotocol.spec.McpSchema$CallToolRequest");

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		FILES.forEach(hints.resources()::registerPattern);
		OPTIONAL.forEach((name) -> hints.reflection().registerTypeIfPresent(classLoader, name));
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.postgresql.PGStatement", MemberCategory.INVOKE_PUBLIC_METHODS);
		// Whether PostgreSQL will commit, and in which session; which connection a
		// manager commits.
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.postgresql.core.BaseConnection",
					MemberCategory.INVOKE_PUBLIC_METHODS);
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.postgresql.PGConnection", MemberCategory.INVOKE_PUBLIC_METHODS);
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.springframework.jdbc.datasource.ConnectionHolder",
					MemberCategory.INVOKE_DECLARED_METHODS);
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.springframework.web.servlet.view.RedirectView",
					MemberCategory.ACCESS_DECLARED_FIELDS);
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.springframework.aop.framework.JdkDynamicAopProxy",
					MemberCategory.ACCESS_DECLARED_FIELDS);
		TOOLS.forEach((name) -> hints.reflection()
			.registerTypeIfPresent(classLoader, name, MemberCategory.ACCESS_DECLARED_FIELDS));
		MESSAGES.forEach((name) -> hints.reflection()
			.registerTypeIfPresent(classLoader, name, MemberCategory.INVOKE_PUBLIC_METHODS));
	}

}
