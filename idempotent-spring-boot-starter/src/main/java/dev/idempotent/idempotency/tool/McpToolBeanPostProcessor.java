package dev.idempotent.idempotency.tool;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import dev.idempotent.idempotency.ToolRefusal;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Content;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Surrounds the synchronous tools of an MCP server: hands the key of a request to the
 * tool's method, marks a replay in {@code _meta}, and answers a refusal with its sentence
 * alone. Tools that are added to a running server are not surrounded.
 */
public final class McpToolBeanPostProcessor implements BeanPostProcessor, BeanFactoryAware {

	/**
	 * The member of {@code _meta} of a result that is a replay, with the value
	 * {@code true}.
	 */
	public static final String REPLAYED = "dev.idempotent/replayed";

	/**
	 * The member of {@code _meta} of a refusal, with its reason, such as
	 * {@code in-progress}.
	 */
	public static final String REFUSED = "dev.idempotent/refused";

	private final Supplier<List<String>> metaNames;

	private volatile boolean overStdio;

	private @Nullable ConfigurableListableBeanFactory beans;

	/**
	 * Creates a post-processor.
	 * @param metaNames supplies the names of members of {@code _meta} that are keys
	 */
	public McpToolBeanPostProcessor(Supplier<List<String>> metaNames) {
		this.metaNames = metaNames;
	}

	/**
	 * Returns whether the server of this process has standard input and output as its
	 * transport, and so one client.
	 * @return {@code false} until that transport has been created
	 */
	public boolean isOverStdio() {
		return this.overStdio;
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beans = (beanFactory instanceof ConfigurableListableBeanFactory listable) ? listable : null;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof StdioServerTransportProvider) {
			this.overStdio = true;
		}
		return (bean instanceof List<?> list && holdsTools(list, beanName)) ? list.stream().map(this::surround).toList()
				: bean;
	}

	/**
	 * A list that is not one of the JDK may load its elements when they are read.
	 */
	private boolean holdsTools(List<?> list, String beanName) {
		if (list.getClass().getName().startsWith("java.util.")) {
			return !list.isEmpty() && isTool(list.get(0));
		}
		Class<?> declared = (this.beans != null && this.beans.containsBeanDefinition(beanName))
				? this.beans.getMergedBeanDefinition(beanName)
					.getResolvableType()
					.as(List.class)
					.getGeneric(0)
					.resolve()
				: null;
		return declared == McpServerFeatures.SyncToolSpecification.class
				|| declared == McpStatelessServerFeatures.SyncToolSpecification.class;
	}

	/**
	 * Returns whether a result stands for a failure.
	 * @param result the result of a tool's method
	 * @return {@code true} for a result of MCP with {@code isError}
	 */
	public static boolean isFailure(Object result) {
		return result instanceof CallToolResult answer && Boolean.TRUE.equals(answer.isError());
	}

	private static boolean isTool(@Nullable Object element) {
		return element instanceof McpServerFeatures.SyncToolSpecification
				|| element instanceof McpStatelessServerFeatures.SyncToolSpecification;
	}

	private Object surround(Object element) {
		if (element instanceof McpServerFeatures.SyncToolSpecification tool) {
			return McpServerFeatures.SyncToolSpecification.builder()
				.tool(tool.tool())
				.callHandler((exchange, request) -> call(tool.tool(), request,
						() -> tool.callHandler().apply(exchange, request)))
				.build();
		}
		if (element instanceof McpStatelessServerFeatures.SyncToolSpecification tool) {
			return McpStatelessServerFeatures.SyncToolSpecification.builder()
				.tool(tool.tool())
				.callHandler((context, request) -> call(tool.tool(), request,
						() -> tool.callHandler().apply(context, request)))
				.build();
		}
		return element;
	}

	private CallToolResult call(Tool tool, CallToolRequest request, Supplier<CallToolResult> handler) {
		ToolCall call = ToolCall.ofClient(tool.name(), keysIn(request.meta()));
		ToolCall outer = ToolCall.bind(call);
		CallToolResult result;
		try {
			result = handler.get();
		}
		catch (RuntimeException | Error ex) {
			if (call.refusal() == null && call.failedResult() == null) {
				throw ex;
			}
			result = CallToolResult.builder(List.of()).isError(true).build();
		}
		finally {
			ToolCall.bind(outer);
		}
		if (call.failedResult() instanceof CallToolResult failed) {
			return failed;
		}
		if (call.refusal() != null) {
			return refused(call.refusal(), Objects.requireNonNull(call.refusalText()));
		}
		boolean failed = Boolean.TRUE.equals(result.isError());
		return (call.isReplayed() && !failed) ? marked(tool, result) : result;
	}

	private List<Object> keysIn(@Nullable Map<String, Object> meta) {
		return (meta == null) ? List.of()
				: this.metaNames.get()
					.stream()
					.filter(meta::containsKey)
					.map(meta::get)
					.map((key) -> Objects.requireNonNullElse(key, Map.of()))
					.distinct()
					.toList();
	}

	private static CallToolResult refused(ToolRefusal refusal, String text) {
		String reason = refusal.reason().name().toLowerCase(Locale.ROOT).replace('_', '-');
		return CallToolResult.builder(List.of(TextContent.builder(text).build()))
			.isError(true)
			.meta(Map.of(REFUSED, reason))
			.build();
	}

	/**
	 * The server drops {@code _meta} of a result that has no content where a tool has an
	 * output schema, and fills in the content itself.
	 */
	private static CallToolResult marked(Tool tool, CallToolResult result) {
		Map<String, Object> meta = new HashMap<>((result.meta() != null) ? result.meta() : Map.of());
		meta.put(REPLAYED, true);
		List<Content> content = new ArrayList<>((result.content() != null) ? result.content() : List.of());
		if (content.isEmpty() && tool.outputSchema() != null && result.structuredContent() != null) {
			content
				.add(TextContent.builder(JsonMapper.shared().writeValueAsString(result.structuredContent())).build());
		}
		CallToolResult.Builder marked = CallToolResult.builder(content).isError(result.isError()).meta(meta);
		if (result.structuredContent() != null) {
			marked.structuredContent(result.structuredContent());
		}
		return marked.build();
	}

}
