package dev.idempotent.autoconfigure.idempotency;

import java.lang.reflect.Field;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.aop.AnnotatedMethodsCheck;
import dev.idempotent.aop.AnnotatedMethodsCheck.BeanMethod;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.method.IdempotentMethodAdvisor;
import io.modelcontextprotocol.server.McpAsyncServer;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessAsyncServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.ai.mcp.annotation.McpTool;
import org.springframework.ai.mcp.annotation.spring.scan.AbstractMcpAnnotatedBeans;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.method.MethodToolCallback;
import org.springframework.ai.tool.method.MethodToolCallbackProvider;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Checks that the calls of {@code @Idempotent} tools pass through their advice, and that
 * the tools are served: Spring AI leaves some out with a warning, or without one.
 */
final class ToolMethodsCheck implements SmartInitializingSingleton {

	private static final boolean withMcpTools = isPresent("org.springframework.ai.mcp.annotation.McpTool")
			&& isPresent("io.modelcontextprotocol.server.McpServerFeatures");

	private static final Logger logger = LoggerFactory.getLogger(ToolMethodsCheck.class);

	private final ConfigurableListableBeanFactory beans;

	ToolMethodsCheck(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	public void afterSingletonsInstantiated() {
		AnnotatedMethodsCheck methods = new AnnotatedMethodsCheck(this.beans, Idempotent.class);
		List<BeanMethod> tools = methods.findAdvised().stream().filter((found) -> isTool(found.method())).toList();
		tools.forEach(this::requireClassProxy);
		tools.stream().map(BeanMethod::method).filter(ToolMethodsCheck::sharesKeys).forEach(ToolMethodsCheck::warn);
		singletonsOf(ToolCallbackProvider.class, ToolCallback.class, List.class).flatMap(ToolMethodsCheck::toolObjects)
			.forEach((object) -> requireAdvised(methods, object,
					"is called on an instance of its class that a ToolCallbackProvider or ToolCallback of the "
							+ "application has, and that is not the bean",
					"Let that bean method take the bean of the class as a parameter, and pass it on."));
		if (withMcpTools) {
			McpServers.check(this, methods, tools);
		}
	}

	private static boolean isTool(AnnotatedMethod method) {
		return AnnotatedElementUtils.hasAnnotation(method.method(), Tool.class)
				|| (withMcpTools && McpServers.isTool(method));
	}

	private static boolean sharesKeys(AnnotatedMethod tool) {
		return IdempotentMethodAdvisor.annotationOf(tool).from() != KeySource.TOOL_CALL;
	}

	private static void warn(AnnotatedMethod tool) {
		logger
			.warn("The tool {} has keys that all callers share: one caller gets the result of another who sends the same "
					+ "key. Set from = KeySource.TOOL_CALL and a window, unless its keys are unique among all callers",
					tool.describe());
	}

	/**
	 * Spring AI calls the method of the class, which the proxy of an interface does not
	 * have.
	 */
	private void requireClassProxy(BeanMethod tool) {
		Object bean = this.beans.containsSingleton(tool.bean()) ? this.beans.getSingleton(tool.bean()) : null;
		if (AopUtils.isJdkDynamicProxy(bean)) {
			throw tool.method()
				.invalid(
						"is a tool, and the proxy of its bean implements interfaces only, where Spring AI cannot call it",
						"Remove spring.aop.proxy-target-class=false, or let the class of the bean implement no interface.",
						null);
		}
	}

	private static void requireAdvised(AnnotatedMethodsCheck methods, Object object, String problem, String action) {
		if (!methods.isAdvisedOrReplaced(object)) {
			AnnotatedMethod.findAll(Idempotent.class, AopUtils.getTargetClass(object))
				.stream()
				.filter(ToolMethodsCheck::isTool)
				.findFirst()
				.ifPresent((method) -> {
					throw method.invalid(problem + ", so that the annotation would have no effect", action, null);
				});
		}
	}

	private static Stream<Object> toolObjects(Object bean) {
		if (bean instanceof List<?> list) {
			return elements(list).filter((each) -> each instanceof ToolCallback || each instanceof ToolCallbackProvider)
				.flatMap(ToolMethodsCheck::toolObjects);
		}
		if (bean instanceof Object[] array) {
			return toolObjects(List.of(array));
		}
		if (!(bean instanceof MethodToolCallbackProvider || bean instanceof MethodToolCallback)) {
			// A provider of given callbacks, or what adds something to another one.
			return Stream.of("toolCallbacks", "delegate")
				.map((field) -> read(bean, field))
				.filter(Objects::nonNull)
				.map(Objects::requireNonNull)
				.flatMap(ToolMethodsCheck::toolObjects);
		}
		Object held = read(bean, (bean instanceof MethodToolCallback) ? "toolObject" : "toolObjects");
		return (held instanceof Collection<?> objects) ? objects.stream().map((each) -> (Object) each)
				: Stream.ofNullable(held);
	}

	/**
	 * A list that is not one of the JDK may load its elements when they are read.
	 */
	private static Stream<?> elements(List<?> list) {
		return list.getClass().getName().startsWith("java.util.") ? list.stream() : Stream.empty();
	}

	private static @Nullable Object read(Object holder, String name) {
		Field field = ReflectionUtils.findField(holder.getClass(), name);
		if (field == null) {
			return null;
		}
		ReflectionUtils.makeAccessible(field);
		return ReflectionUtils.getField(field, holder);
	}

	private Stream<Object> singletonsOf(Class<?>... types) {
		return Stream.of(types)
			.flatMap((type) -> Stream.of(this.beans.getBeanNamesForType(type, false, false)))
			.distinct()
			.filter(this.beans::containsSingleton)
			.map(this.beans::getBean);
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, ToolMethodsCheck.class.getClassLoader());
	}

	/**
	 * Loaded only if there are the annotations and the server of MCP.
	 */
	private static final class McpServers {

		private static final String TOOLS_OF_ANNOTATIONS = "toolSpecs";

		private McpServers() {
		}

		static boolean isTool(AnnotatedMethod method) {
			return AnnotatedElementUtils.hasAnnotation(method.method(), McpTool.class);
		}

		static void check(ToolMethodsCheck check, AnnotatedMethodsCheck methods, List<BeanMethod> tools) {
			check.singletonsOf(AbstractMcpAnnotatedBeans.class)
				.flatMap(
						(scanned) -> ((AbstractMcpAnnotatedBeans) scanned).getBeansByAnnotation(McpTool.class).stream())
				.forEach((object) -> requireAdvised(methods, object,
						"is a tool of MCP, and its bean is part of a circular reference, in which Spring AI gets it "
								+ "before it is advised",
						"Break the cycle, for example with @Lazy."));
			if (check.singletonsOf(McpAsyncServer.class, McpStatelessAsyncServer.class).findAny().isPresent()) {
				tools.forEach(McpServers::requireNoKeyOfCall);
			}
			if (check.beans.containsSingleton(TOOLS_OF_ANNOTATIONS)) {
				Set<String> served = check.singletonsOf(List.class)
					.flatMap((list) -> elements((List<?>) list))
					.flatMap(McpServers::nameOf)
					.collect(Collectors.toSet());
				tools.stream().filter((tool) -> isTool(tool.method())).forEach((tool) -> requireServed(tool, served));
			}
		}

		private static void requireNoKeyOfCall(BeanMethod tool) {
			if (IdempotentMethodAdvisor.annotationOf(tool.method()).from() == KeySource.TOOL_CALL) {
				throw tool.method()
					.invalid(
							"takes its key from the call of a tool, and an MCP server of type ASYNC calls it on other "
									+ "threads, where neither the key nor the caller of a request is known",
							"Set spring.ai.mcp.server.type=SYNC, or set key to the argument that is the key, without "
									+ "from = KeySource.TOOL_CALL.",
							null);
			}
		}

		private static void requireServed(BeanMethod tool, Set<String> served) {
			McpTool annotation = AnnotatedElementUtils.findMergedAnnotation(tool.method().method(), McpTool.class);
			String own = tool.method().method().getName();
			String name = (annotation == null || annotation.name().isEmpty()) ? own : annotation.name();
			if (!served.contains(name)) {
				throw tool.method()
					.invalid("is a tool of MCP that the server of this application leaves out",
							"Annotate the method of the class itself, not one of its interface. With "
									+ "spring.ai.mcp.server.type=ASYNC a tool must return a Mono or Flux, and with "
									+ "protocol=STATELESS it cannot have a parameter for an exchange or a request "
									+ "context. A lazy bean is not served.",
							null);
			}
		}

		private static Stream<String> nameOf(@Nullable Object element) {
			if (element instanceof McpServerFeatures.SyncToolSpecification tool) {
				return Stream.of(tool.tool().name());
			}
			if (element instanceof McpStatelessServerFeatures.SyncToolSpecification tool) {
				return Stream.of(tool.tool().name());
			}
			if (element instanceof McpServerFeatures.AsyncToolSpecification tool) {
				return Stream.of(tool.tool().name());
			}
			return (element instanceof McpStatelessServerFeatures.AsyncToolSpecification tool)
					? Stream.of(tool.tool().name()) : Stream.empty();
		}

	}

}
