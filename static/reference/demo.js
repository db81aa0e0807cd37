// The button that fills in the token of the demo agent.

export function onDemoToken(use) {
  const button = document.getElementById("demo");
  button?.addEventListener("click", () => {
    use(button.dataset.token);
    document.getElementById("said").textContent = "You are the demo agent now.";
  });
}
