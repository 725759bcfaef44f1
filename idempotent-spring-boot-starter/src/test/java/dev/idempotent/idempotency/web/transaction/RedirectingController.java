package dev.idempotent.idempotency.web.transaction;

import java.io.IOException;
import java.util.Map;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.web.transaction.Works.Troubled;
import dev.idempotent.testing.Gate;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;
import org.springframework.web.servlet.support.RequestContextUtils;

/**
 * Handlers that redirect after their work, as the forms of a website do.
 */
@Controller
class RedirectingController {

	private final Works works;

	private volatile @Nullable Gate gate;

	RedirectingController(Works works) {
		this.works = works;
	}

	void holdUpAt(@Nullable Gate closed) {
		this.gate = closed;
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/redirects/by-name/{end}")
	String byName(@PathVariable String end, @RequestParam String name) {
		work(end, name);
		return "redirect:/thanks";
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/redirects/by-flash/{end}")
	String byFlash(@PathVariable String end, @RequestParam String name, RedirectAttributes attributes) {
		work(end, name);
		attributes.addFlashAttribute("message", "placed");
		return "redirect:/flashed";
	}

	@GetMapping("/flashed")
	@ResponseBody
	String flashed(HttpServletRequest request) {
		Map<String, ?> flash = RequestContextUtils.getInputFlashMap(request);
		return (flash != null && flash.get("message") instanceof String message) ? message : "none";
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/redirects/by-response/{end}")
	void byResponse(@PathVariable String end, @RequestParam String name, HttpServletResponse response)
			throws IOException {
		work(end, name);
		response.sendRedirect("/thanks", HttpServletResponse.SC_SEE_OTHER);
		if (end.equals("throws-after")) {
			throw new Troubled.DeclinedException();
		}
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/sent/303")
	@ResponseStatus(code = HttpStatus.SEE_OTHER, reason = "done")
	void byReason(@RequestParam String name) {
		work("commits", name);
	}

	@Idempotent(guarantee = Guarantee.TRANSACTION)
	@PostMapping("/sent/{status}")
	void bySentStatus(@PathVariable int status, @RequestParam String name, HttpServletResponse response)
			throws IOException {
		work("commits", name);
		response.sendError(status);
		if (status == HttpServletResponse.SC_CREATED) {
			throw new Troubled.DeclinedException();
		}
	}

	private void work(String end, String name) {
		this.works.write(name);
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
			@Override
			public void beforeCommit(boolean readOnly) {
				pass();
				if (end.equals("fails")) {
					throw new Troubled.DeclinedException();
				}
				if (end.equals("breaks")) {
					throw new IllegalStateException("The commit has failed");
				}
			}
		});
	}

	private void pass() {
		try {
			Gate closed = this.gate;
			if (closed != null) {
				closed.pass();
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
